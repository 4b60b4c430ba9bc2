package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
)

// fence is a block of code in a page, with what the page says of it to the
// test: <!-- example: … --> on a line of its own, above it.
type fence struct {
	lang, text string
	line       int
	notes      []string
}

var exampleNote = regexp.MustCompile(`^\s*<!-- example: (.+?) -->\s*$`)

// fences reads the blocks of a page.
func fences(t *testing.T, path string) []fence {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	var (
		out    []fence
		notes  []string
		open   *fence
		indent string
	)
	for i, line := range strings.Split(string(data), "\n") {
		bare := strings.TrimLeft(line, " ")
		switch {
		case open != nil && bare == "```":
			out = append(out, *open)
			open, notes = nil, nil
		case open != nil:
			open.text += strings.TrimPrefix(line, indent) + "\n"
		case strings.HasPrefix(bare, "```"):
			indent = line[:len(line)-len(bare)]
			open = &fence{lang: strings.TrimPrefix(bare, "```"), line: i + 1, notes: notes}
		default:
			if m := exampleNote.FindStringSubmatch(line); m != nil {
				notes = append(notes, m[1])
			} else if strings.Contains(line, "<!-- example") {
				t.Errorf("%s:%d: not <!-- example: … -->: %s", path, i+1, line)
			}
		}
	}
	if open != nil {
		t.Errorf("%s:%d: the block has no end", path, open.line)
	}
	return out
}

// note gives what a note that begins with these words goes on to say.
func (f fence) note(begin string) (string, bool) {
	for _, n := range f.notes {
		if rest, ok := strings.CutPrefix(n, begin); ok {
			return strings.TrimSpace(rest), true
		}
	}
	return "", false
}

// manual lists the README and all pages of docs.
func manual(t *testing.T) []string {
	t.Helper()
	out := []string{"../../README.md"}
	err := filepath.WalkDir("../../docs", func(path string, _ os.DirEntry, err error) error {
		if strings.HasSuffix(path, ".md") {
			out = append(out, path)
		}
		return err
	})
	if err != nil || len(out) < 20 {
		t.Fatalf("%d pages: %v", len(out), err)
	}
	return out
}

func TestFences(t *testing.T) {
	path := filepath.Join(t.TempDir(), "page.md")
	page := "Text.\n\n<!-- example: may differ: a, b -->\n\n  ```sh\n  one\n    two\n  ```\n\n```text\nthree\n```\n"
	require.NoError(t, os.WriteFile(path, []byte(page), 0o644))
	got := fences(t, path)
	if len(got) != 2 || got[0].lang != "sh" || got[0].text != "one\n  two\n" || got[1].text != "three\n" {
		t.Fatalf("%+v", got)
	}
	if words, ok := got[0].note("may differ:"); !ok || words != "a, b" || len(got[1].notes) != 0 {
		t.Errorf("%+v", got)
	}
}
