package report

import (
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/document"
	"plimsoll/internal/understand/words"
)

// addInstead is what was measured by another program, mechanism or topology
// than the study's: shown, and in no verdict.
func addInstead(d *document.Document, s *analyze.Substitute) {
	d.Heading(2, "Instead, but in no verdict")
	var items []string
	for _, x := range s.StandIns {
		items = append(items, words.Prose("another "+x.Aspect+": "+x.Here+" for "+x.Paper+". "+words.Sentence(x.Why)))
	}
	d.List("   ", document.Items(items))
	addPairTables(d, s.Pairs)
}
