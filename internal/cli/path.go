package cli

import (
	"os"
	"path/filepath"
)

// shortPath is relative to where the user stands, if that is shorter.
func shortPath(path string) string {
	wd, err := os.Getwd()
	if err != nil {
		return path
	}
	rel, err := filepath.Rel(wd, path)
	if err != nil || len(rel) > len(path) {
		return path
	}
	return rel
}
