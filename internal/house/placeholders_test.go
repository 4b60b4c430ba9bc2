package house

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
)

// placeholders stand for an address that Plimsoll does not have yet, each in
// one file, which says so.
var placeholders = []struct {
	word string // that all of them have: it is found sooner
	what *regexp.Regexp
	in   string
	says string // in that file's text
}{
	{"OWNER", regexp.MustCompile(`\bOWNER\b`), "docs/ci.md", "`OWNER/plimsoll` stands for"},
	{"/plimsoll", regexp.MustCompile(`example\.(org|com|net)/plimsoll`), "docs/ci.md", "`https://example.org/plimsoll/releases` for"},
	{"<plimsoll@localhost>", regexp.MustCompile(`<plimsoll@localhost>`), "Makefile", "it has no public address yet"},
}

// Whoever publishes Plimsoll finds what is to be replaced in the files that are
// said here, and nowhere else.
func TestPlaceholders(t *testing.T) {
	found := map[string]int{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := filepath.ToSlash(strings.TrimPrefix(filepath.ToSlash(path), root+"/"))
		if d.IsDir() && (slices.Contains([]string{".git", "node_modules", "testdata"}, d.Name()) || slices.Contains([]string{"bin", "dist", "internal/understand/page/dist"}, name)) {
			return fs.SkipDir // not ours, made, or examples
		}
		if !d.Type().IsRegular() || name == "internal/house/placeholders_test.go" {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, p := range placeholders {
			if !bytes.Contains(data, []byte(p.word)) || !p.what.Match(data) {
				continue
			}
			found[p.what.String()]++
			if name != p.in {
				t.Errorf("%s has %s: the one place for it is %s", name, p.what.Find(data), p.in)
			} else if !strings.Contains(string(data), p.says) {
				t.Errorf("%s does not say what %s stands for", name, p.what.Find(data))
			}
		}
		return nil
	})
	require.NoError(t, err)
	if len(found) != len(placeholders) {
		t.Errorf("only %v were found: the others need no rule", found)
	}
}
