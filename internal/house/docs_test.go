package house

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"plimsoll/internal/common/require"
)

const root = "../.."

// page is a Markdown file, without its code.
type page struct {
	path  string // from the root, with slashes
	text  string
	heads []string
}

var (
	link    = regexp.MustCompile(`!?\[[^\]]*\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`^#{1,6} +(.*)`)
	code    = regexp.MustCompile("`[^`]*`")
	list    = regexp.MustCompile(`^ *([-*+]|[0-9]+\.) `)
)

func readPage(t *testing.T, path string) page {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, path))
	require.NoError(t, err)
	p := page{path: filepath.ToSlash(path)}
	fenced := false
	var text strings.Builder
	for line := range strings.Lines(string(data)) {
		if strings.HasPrefix(strings.TrimLeft(line, " "), "```") {
			fenced = !fenced
			text.WriteString("\n")
			continue
		}
		if fenced {
			continue
		}
		if m := heading.FindStringSubmatch(line); m != nil {
			p.heads = append(p.heads, strings.TrimSpace(m[1]))
		}
		text.WriteString(line)
	}
	p.text = text.String()
	return p
}

// pages are those of the repository's root and of docs.
func pages(t *testing.T) map[string]page {
	t.Helper()
	out := map[string]page{}
	add := func(path string) {
		out[filepath.ToSlash(path)] = readPage(t, path)
	}
	top, err := filepath.Glob(root + "/*.md")
	require.NoError(t, err)
	for _, f := range top {
		add(filepath.Base(f))
	}
	for _, f := range documents(t) {
		add("docs/" + f)
	}
	if len(out) < 20 {
		t.Fatalf("%d pages: the test looks in the wrong place", len(out))
	}
	return out
}

// documents are the Markdown files of docs, from there.
func documents(t *testing.T) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(root+"/docs", func(path string, d os.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".md") {
			rel, err := filepath.Rel(root+"/docs", path)
			out = append(out, filepath.ToSlash(rel))
			return err
		}
		return err
	})
	require.NoError(t, err)
	return out
}

// slugs are the anchors of a heading: as code forges make them, and as the
// site does. A link that works in both has a heading for which they agree.
func slugs(head string) (forge, site string) {
	head = strings.ToLower(strings.ReplaceAll(link.ReplaceAllStringFunc(head, func(s string) string {
		return s[1:strings.Index(s, "]")]
	}), "`", ""))
	forge = strings.ReplaceAll(regexp.MustCompile(`[^\pL\pN _-]`).ReplaceAllString(head, ""), " ", "-")
	plain := strings.TrimSpace(regexp.MustCompile(`[^\w\s-]`).ReplaceAllString(head, ""))
	return forge, regexp.MustCompile(`[-\s]+`).ReplaceAllString(plain, "-")
}

// Every link within the repository leads to a file that is there, and its
// anchor to a heading; none of docs leads out of docs, which is all that the
// site has.
func TestLinks(t *testing.T) {
	all := pages(t)
	links := 0
	for path, p := range all {
		for _, m := range link.FindAllStringSubmatch(code.ReplaceAllString(p.text, ""), -1) {
			to, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(to, ":") {
				continue // another site's
			}
			links++
			target := path
			if to != "" {
				target = filepath.ToSlash(filepath.Join(filepath.Dir(path), to))
			}
			if _, err := os.Stat(filepath.Join(root, target)); err != nil {
				t.Errorf("%s links to %s, which is not there", path, m[1])
				continue
			}
			if strings.HasPrefix(path, "docs/") && !strings.HasPrefix(target, "docs/") {
				t.Errorf("%s links to %s, which is not in docs", path, m[1])
			}
			if anchor == "" {
				continue
			}
			if !slices.ContainsFunc(all[target].heads, func(h string) bool {
				forge, site := slugs(h)
				return forge == anchor && site == anchor
			}) {
				t.Errorf("%s links to %s: no heading of %s has this anchor", path, m[1], target)
			}
		}
	}
	if links < 80 {
		t.Errorf("only %d links were found", links)
	}
}

// Every file of the repository that a page names in code is there.
func TestPaths(t *testing.T) {
	named := regexp.MustCompile("`((?:cmd|ci|docs|examples|internal|lab|schema|studies)/[^` ]*)")
	found := 0
	for path, p := range pages(t) {
		for _, m := range named.FindAllStringSubmatch(p.text, -1) {
			name := regexp.MustCompile("NAME|ENGINE").ReplaceAllString(strings.TrimRight(m[1], "/"), "*")
			files, err := filepath.Glob(filepath.Join(root, name))
			if found++; err != nil || len(files) == 0 {
				t.Errorf("%s names %s, which is not there", path, m[1])
			}
		}
	}
	if found < 30 {
		t.Errorf("only %d paths were found", found)
	}
}

// A list that follows a paragraph without an empty line is a list on a forge
// and a paragraph on the site.
func TestPortableLists(t *testing.T) {
	for path, p := range pages(t) {
		before := ""
		for line := range strings.Lines(p.text) {
			line = strings.TrimRight(line, "\n")
			if list.MatchString(line) && before != "" && !list.MatchString(before) && !heading.MatchString(before) && !strings.HasPrefix(before, "  ") {
				t.Errorf("%s: no empty line before %q", path, line)
			}
			before = line
		}
	}
}

// Every page stands in the site's navigation, once.
func TestNavigation(t *testing.T) {
	data, err := os.ReadFile(root + "/mkdocs.yml")
	require.NoError(t, err)
	var site struct{ Nav []any }
	require.NoError(t, yaml.Unmarshal(data, &site))
	times := map[string]int{}
	var walk func(any)
	walk = func(entry any) {
		switch x := entry.(type) {
		case string:
			times[x]++
		case []any:
			for _, e := range x {
				walk(e)
			}
		case map[string]any:
			for _, e := range x {
				walk(e)
			}
		}
	}
	walk(site.Nav)
	for _, f := range documents(t) {
		if times[f] != 1 {
			t.Errorf("docs/%s stands %d times in the navigation of mkdocs.yml, not once", f, times[f])
		}
		delete(times, f)
	}
	for f := range times {
		t.Errorf("mkdocs.yml has docs/%s, which is not there", f)
	}
}
