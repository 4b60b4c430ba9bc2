//go:build linux

package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/common/golden"
	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/study"
	"plimsoll/internal/understand/document"
)

// The lines between which a study's page has the table of its protocol.
const protocolBegins, protocolEnds = "<!-- protocol -->\n", "<!-- end of protocol -->\n"

// The page of each paper's study has the rows of its protocol that differ from the
// paper's, as the program prints them; -update writes them anew.
func TestProtocolPages(t *testing.T) {
	s, err := newSetting(System())
	require.NoError(t, err)
	cat := s.studyCatalogue()
	for _, name := range study.Papers() {
		st, err := study.Load(name, cat)
		require.NoError(t, err)
		p, err := st.PaperProtocol(cat)
		require.NoError(t, err)
		p.Rows = slices.DeleteFunc(p.Rows, func(r study.PaperFact) bool { return r.AsPublished && len(r.At) == 0 })
		var table strings.Builder
		d := &document.Document{Medium: document.Markdown}
		protocolDocument(d, p)
		require.NoError(t, d.Write(&table))
		path := filepath.Join("..", "..", "docs", "studies", name+".md")
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		before, rest, ok := strings.Cut(string(data), protocolBegins)
		_, after, closed := strings.Cut(rest, protocolEnds)
		if !ok || !closed {
			t.Errorf("%s: expected the lines %q and %q, for the table of the protocol", path, protocolBegins, protocolEnds)
			continue
		}
		golden.Check(t, path, before+protocolBegins+"\n"+strings.TrimSpace(table.String())+"\n\n"+protocolEnds+after)
	}
}

// No page says "as published" by itself: where it is so, the table says it,
// which is made from the study.
func TestNothingIsAsPublishedByHand(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join("..", "..", "docs", "studies", "*.md"))
	if err != nil || len(pages) < len(study.Papers()) {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	said := regexp.MustCompile(`(?i)(not )?\bas published`)
	for _, path := range append(pages, filepath.Join("..", "..", "docs", "repeat-a-paper.md")) {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		before, rest, _ := strings.Cut(string(data), protocolBegins)
		_, after, _ := strings.Cut(rest, protocolEnds)
		for _, m := range said.FindAllStringSubmatch(before+after, -1) {
			if m[1] == "" {
				t.Errorf("%s says %q beside the table of the protocol, expected what is done", path, m[0])
			}
		}
	}
}
