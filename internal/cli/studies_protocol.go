//go:build linux

package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"plimsoll/internal/measure/study"
	"plimsoll/internal/understand/document"
	"plimsoll/internal/understand/words"
)

// asPublished is what stands in place of what is the paper's own.
const asPublished = "as published"

// showProtocol prints what a paper did beside what its study does.
func showProtocol(w World, s *setting, name, format string) error {
	cat := s.studyCatalogue()
	st, err := study.Load(name, cat)
	if err != nil {
		return &exitError{status: Usage, err: err}
	}
	p, err := st.PaperProtocol(cat)
	switch {
	case err != nil:
		return err
	case p == nil:
		return withHint(fail(Usage, "the study %s repeats no paper whose protocol is known", st.Name), "these do: %s", strings.Join(study.Papers(), ", "))
	case format == "json":
		return printJSON[*study.PaperProtocol](w.Stdout, p)
	}
	d := &document.Document{Medium: document.Text, Width: max(w.Width(), 40), Color: color(w)}
	if w.Width() <= 0 {
		d.Width = pipeWidth
	}
	if format == "markdown" {
		d.Medium = document.Markdown
	}
	protocolDocument(d, p)
	return d.Write(w.Stdout)
}

// protocolDocument is a row for each aspect. On a page of text the two sides
// stand below it, for they are sentences.
func protocolDocument(d *document.Document, p *study.PaperProtocol) {
	if d.Medium == document.Text {
		d.Heading(1, "Protocol of "+p.Study+": the paper's, and what is done here")
		for i := range p.Rows {
			r := &p.Rows[i]
			d.Heading(0, words.Clean(r.Title()))
			d.Led("   paper  ", words.Clean(r.Paper), document.Plain)
			d.Led("   here   ", hereOfFact(r), document.Plain)
			if r.Why != "" {
				d.Led("   why    ", words.Sentence(words.Clean(r.Why)), document.Dim)
			}
		}
	} else {
		t := &document.Table{Columns: document.Columns("", "paper", "here", "why")}
		for i := range p.Rows {
			r := &p.Rows[i]
			t.Row(words.Clean(r.Title()), words.Clean(r.Paper), hereOfFact(r), words.Clean(r.Why))
		}
		d.Add(t)
	}
	d.Gap(document.Text)
	for _, scale := range slices.Sorted(maps.Keys(p.Scales)) {
		d.Legend(fmt.Sprintf("The scale %s: %s", scale, words.Sentence(words.Clean(p.Scales[scale]))))
	}
	d.Legend("Known from " + words.Sentence(words.Clean(p.KnownFrom)))
}

// hereOfFact says what is done here, at each scale that differs.
func hereOfFact(r *study.PaperFact) string {
	out := words.Clean(r.Here)
	if r.AsPublished {
		out = asPublished
	}
	for _, scale := range slices.Sorted(maps.Keys(r.At)) {
		out += "; " + scale + ": " + words.Clean(r.At[scale])
	}
	return out
}
