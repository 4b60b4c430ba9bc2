package engine

import (
	"os"
	"strings"

	"plimsoll/internal/common/safepath"
)

// placesFiles name further places where engines are, after their usual ones. A line has
// what is there and its path: "containerd /srv/containerd.sock".
var placesFiles = []string{"/etc/plimsoll/places", "/run/plimsoll/places"}

// Places returns the further places of what has this name: an engine's sockets, or the
// runtime directories (RuntimeDirs) of ordinary users. Files that anybody but root may
// write to, and lines that are no such pair, do not count.
func Places(name string) (paths []string) {
	for _, file := range placesFiles {
		info, err := os.Lstat(file)
		if err != nil || info.Mode().Perm()&0o022 != 0 || !safepath.OwnedBy(info, 0) {
			continue
		}
		text, err := safepath.ReadRegular(file, 1<<16, "a list of engines' places")
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			if f := strings.Fields(line); len(f) == 2 && f[0] == name && strings.HasPrefix(f[1], "/") {
				paths = append(paths, f[1])
			}
		}
	}
	return paths
}

// RuntimeDirs is the name of ordinary users' runtime directories in the files of places.
const RuntimeDirs = "runtime-dir"
