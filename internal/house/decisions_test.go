package house

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
)

// Who reads a package finds the page with its decisions, and who reads a page
// finds the code.
func TestDecisionsAreFoundFromTheCode(t *testing.T) {
	pages, err := filepath.Glob(root + "/docs/decisions/*.md")
	if err != nil || len(pages) < 10 {
		t.Fatalf("%d pages: %v", len(pages), err)
	}
	index := readPage(t, "docs/decisions.md").text
	quoted := regexp.MustCompile("`([^`]+)`")
	for _, path := range pages {
		name := filepath.Base(path)
		if !strings.Contains(index, "(decisions/"+name+")") {
			t.Errorf("docs/decisions.md does not name %s", name)
		}
		_, rest, _ := strings.Cut(readPage(t, "docs/decisions/"+name).text, "\nThe code: ")
		code, _, found := strings.Cut(rest, "\n")
		if !found {
			t.Errorf("docs/decisions/%s does not say of which code it is", name)
		}
		for _, m := range quoted.FindAllStringSubmatch(code, -1) {
			dir := filepath.Join(root, m[1])
			if _, err := os.Stat(dir); err != nil {
				t.Errorf("docs/decisions/%s: %v", name, err)
			}
			if about, is := packageComment(t, dir); is && !strings.Contains(about, "docs/decisions/"+name) {
				t.Errorf("the comment of the package %s does not name docs/decisions/%s", m[1], name)
			}
		}
	}
}

// packageComment is what is said of a package in its folder; false where that
// has no Go code besides tests.
func packageComment(t *testing.T, dir string) (string, bool) {
	t.Helper()
	files, err := filepath.Glob(dir + "/*.go")
	require.NoError(t, err)
	var about strings.Builder
	is := false
	for _, f := range files {
		if strings.HasSuffix(f, "_test.go") {
			continue
		}
		is = true
		file, err := parser.ParseFile(token.NewFileSet(), f, nil, parser.PackageClauseOnly|parser.ParseComments)
		require.NoError(t, err)
		if file.Doc != nil {
			about.WriteString(file.Doc.Text())
		}
	}
	return about.String(), is
}
