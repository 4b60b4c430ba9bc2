//go:build linux

package imagestore

import (
	"context"
	"path"
	"strings"

	"plimsoll/internal/measure/image"
)

// searched is where the probe looks for a program that is named without a slash,
// in a container whose environment has no PATH.
var searched = []string{"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"}

// mostLinks is how many symbolic links the kernel follows in one path: see
// path_resolution(7).
const mostLinks = 40

// Has says whether an image has a program, by its path, seen from WorkDir,
// or by a name that is looked for as the probe does. What is built must have been built; what comes
// from a registry is fetched. Errors are *Error.
func (s *Store) Has(ctx context.Context, name, program string) (bool, error) {
	t, err := s.tree(ctx, name)
	if err != nil {
		return false, err
	}
	if path.IsAbs(program) {
		return t.executable(program), nil
	}
	if strings.Contains(program, "/") {
		return t.executable(image.WorkDir + "/" + program), nil
	}
	for _, dir := range searched {
		if t.executable(path.Join(dir, program)) {
			return true, nil
		}
	}
	return false, nil
}

// executable says whether a path leads to a file that may be executed.
func (t tree) executable(p string) bool {
	at, left, links := "/", strings.Split(p, "/"), 0
	var last *entry
	for len(left) > 0 {
		next := path.Join(at, left[0])
		left = left[1:]
		i, found := t.find(next)
		switch {
		case next == "/":
			last = nil
		case !found:
			return false
		case t[i].kind == kindLink:
			if links++; links > mostLinks {
				return false
			}
			if path.IsAbs(t[i].link) {
				at = "/"
			}
			left = append(strings.Split(t[i].link, "/"), left...)
			continue
		default:
			last = &t[i]
		}
		at = next
	}
	return last != nil && last.kind == kindFile && last.mode&0o111 != 0
}
