//go:build linux

package image

import (
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"syscall"
)

// Print is the state of a shared directory, by path: content, modes, owners
// and times of change, but not of access.
type Print map[string]string

// Fingerprint takes the state of a directory. Taken before and after a run it
// shows whether an engine wrote to what all share; a mount point that was made
// and removed again shows too, in its directory's time.
func Fingerprint(dir string) (Print, error) {
	p := Print{}
	var device uint64
	err := walk(dir, nil, func(l line, info fs.FileInfo) error {
		st, ok := info.Sys().(*syscall.Stat_t)
		if !ok {
			return nil
		}
		if l.path == "/" {
			device = st.Dev
		}
		mark := fmt.Sprintf("%c %04o %d:%d %d %s%s %d.%09d",
			l.kind, l.mode, st.Uid, st.Gid, l.size, l.sum, l.link, st.Mtim.Sec, st.Mtim.Nsec)
		if st.Dev != device {
			p[l.path] = mark + " (something is mounted on it)"
			if info.IsDir() {
				return fs.SkipDir // it may be a whole /proc
			}
			return nil
		}
		p[l.path] = mark
		return nil
	})
	if err != nil {
		return nil, &Error{Text: "looking whether the shared root directory " + dir + " is unchanged", Err: err}
	}
	return p, nil
}

// Changes lists what is different now, sorted by path; empty is right.
func (p Print) Changes(now Print) []string {
	all := maps.Clone(p)
	maps.Copy(all, now)
	var l []string
	for _, path := range slices.Sorted(maps.Keys(all)) {
		before, had := p[path]
		after, has := now[path]
		switch {
		case !had:
			l = append(l, path+" is new")
		case !has:
			l = append(l, path+" is gone")
		case before != after:
			l = append(l, fmt.Sprintf("%s changed from %q to %q", path, before, after))
		}
	}
	return l
}
