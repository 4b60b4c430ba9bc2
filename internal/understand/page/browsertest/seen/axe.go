package seen

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// errNoAxe is the error of Axe where axe-core is not installed.
var errNoAxe = errors.New("axe-core is not installed: make axe does so")

// Axe is axe-core as npm installed it below the root of the source.
func Axe(root string) (string, error) {
	text, err := os.ReadFile(filepath.Join(root, "internal/understand/page/browsertest/node_modules/axe-core/axe.min.js"))
	if errors.Is(err, fs.ErrNotExist) {
		return "", errNoAxe
	}
	return string(text), err
}

// Excused tells whether a test may be skipped for this error, by what CI is set to:
// where axe-core is not installed, but not in CI.
func Excused(err error, ci string) bool {
	return errors.Is(err, errNoAxe) && (ci == "" || ci == "false")
}
