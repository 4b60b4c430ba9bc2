package build

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"plimsoll/internal/common/yamlfile"
	"plimsoll/internal/record"
)

// IsDirectory says whether a binding names a directory: of a set of programs, each by
// its name in it.
func IsDirectory(a Asked) bool {
	if a.Path == "" || a.File != "" {
		return false
	}
	info, err := os.Stat(a.Path)
	return err == nil && info.IsDir()
}

// Directory are the bindings of those programs that lie in a directory, the one that was
// asked for first, and the names of what else lies in it.
func Directory(a Asked, programs []string) (out []Asked, others []string, err error) {
	entries, err := os.ReadDir(a.Path)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", a.Where, err)
	}
	for _, e := range entries {
		one := a
		one.Program, one.Path, one.SHA256 = e.Name(), filepath.Join(a.Path, e.Name()), ""
		switch {
		case !slices.Contains(programs, e.Name()):
			others = append(others, e.Name())
		case e.Name() == a.Program:
			out = slices.Insert(out, 0, one)
		default:
			out = append(out, one)
		}
	}
	if len(out) == 0 || out[0].Program != a.Program {
		return nil, nil, fmt.Errorf("%s: there is no %s in it; of a set it can have %s", a.Where, a.Program, yamlfile.OneOf(programs))
	}
	return out, others, nil
}

// Digest is that of the builds of a level together, whatever their order: the SHA-256 of
// what sha256sum prints of them by their names.
func Digest(all []record.Build, level string) string {
	var lines []string
	for _, b := range all {
		if b.Level == level {
			lines = append(lines, b.SHA256+"  "+b.Program+"\n")
		}
	}
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(strings.Join(lines, "")))
	return hex.EncodeToString(sum[:])
}

// Demanded says that the builds of a directory are not those that a binding demands.
func Demanded(a Asked, all []record.Build) error {
	var names []string
	for _, b := range all {
		if b.Level == a.Level {
			names = append(names, b.Program)
		}
	}
	if is := Digest(all, a.Level); a.SHA256 != "" && a.SHA256 != is {
		return fmt.Errorf("%s has other programs than before: the digest of %s is %.12s… and was %.12s…", a.Path, strings.Join(names, ", "), is, a.SHA256)
	}
	return nil
}
