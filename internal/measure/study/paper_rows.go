package study

import (
	"fmt"
	"slices"
	"strings"

	"plimsoll/internal/common/yamlfile"
)

// PaperProtocol is what a paper did, beside what its study does.
type PaperProtocol struct {
	Study string `json:"study"`
	// KnownFrom says where the paper's side is known from.
	KnownFrom string `json:"known_from"`
	// Scales says, of each scale that differs, why it does.
	Scales map[string]string `json:"scales,omitempty"`
	Rows   []PaperFact       `json:"rows"`
}

// PaperFact is one aspect of a protocol.
type PaperFact struct {
	Aspect string `json:"aspect"`
	// Parts and Workloads are what it is about; empty is all.
	Parts     []string `json:"parts,omitempty"`
	Workloads []string `json:"workloads,omitempty"`
	Paper     string   `json:"paper"`
	// Here is what the study has at its full size, and AsPublished says that it
	// is what the paper had.
	Here        string `json:"here"`
	AsPublished bool   `json:"as_published"`
	Why         string `json:"why,omitempty"`
	// At is what a scale has, where that is something else than at full size.
	At map[string]string `json:"at,omitempty"`
	// Decides: while it differs, no claim is supported or contradicted by it.
	Decides bool `json:"decides,omitempty"`

	line int
	idle bool // it is about nothing that the study has
}

// PaperProtocol sets a study beside its paper; nil where no paper's protocol is
// known by the study's name.
func (s *Study) PaperProtocol(cat *Catalogue) (*PaperProtocol, error) {
	p, err := paper(s.Name, cat)
	if p == nil || err != nil {
		return nil, err
	}
	out := &PaperProtocol{Study: s.Name, KnownFrom: p.Known.Text}
	for _, k := range p.Scales {
		if out.Scales == nil {
			out.Scales = map[string]string{}
		}
		out.Scales[k.Key.Text] = k.Value.Text
	}
	for i := range p.Facts {
		row, err := s.beside(&p.Facts[i], cat)
		if err != nil {
			return nil, err
		}
		out.Rows = append(out.Rows, row)
	}
	slices.SortStableFunc(out.Rows, func(a, b PaperFact) int {
		return slices.Index(aspects, a.Aspect) - slices.Index(aspects, b.Aspect)
	})
	return out, nil
}

// beside sets the study beside one fact.
func (s *Study) beside(f *paperFact, cat *Catalogue) (PaperFact, error) {
	out := PaperFact{Aspect: f.Aspect.Text, Parts: wordsOf(f.Parts.List), Workloads: wordsOf(f.Workload.names), Paper: f.Paper.Text,
		Why: f.Why.Text, Decides: slices.Contains(judged, f.Aspect.Text), line: f.at.Line, idle: f.idle(s)}
	if !f.From.At.Given() {
		out.Here, out.AsPublished = f.Here.Text, !f.Here.At.Given()
		return out, nil
	}
	list, err := f.here(s, cat)
	if err != nil {
		return out, err
	}
	out.Here, out.AsPublished = sentence(list), f.same(list)
	if !out.AsPublished && f.Here.At.Given() {
		out.Here = f.Here.Text
	}
	for _, t := range s.Scales {
		at, err := f.here(t, cat)
		if err != nil {
			return out, err
		}
		if f.From.Text == fromCommand && len(at) > 0 || sentence(at) == sentence(list) {
			continue // the same program, for as many workloads as the scale has
		}
		if out.At == nil {
			out.At = map[string]string{}
		}
		out.At[t.Scale] = sentence(at)
	}
	return out, nil
}

// levelsBy are levels by their factor or parameter; nil where there are none.
func levelsBy(axes []yamlfile.Axis) map[string][]string {
	if len(axes) == 0 {
		return nil
	}
	out := map[string][]string{}
	for _, a := range axes {
		out[a.Key.Text] = wordsOf(a.Levels.List)
	}
	return out
}

func wordsOf(list []yamlfile.Word) []string {
	var out []string
	for _, w := range list {
		out = append(out, w.Text)
	}
	return out
}

// unexplained says in what a study differs from its paper without an entry that
// says why, and which entries explain what does not differ.
func (p *PaperProtocol) unexplained() []string {
	var out []string
	add := func(r PaperFact, format string, args ...any) {
		out = append(out, fmt.Sprintf("studies/protocols/%s.yaml:%d: %s (%s): ", p.Study, r.line, r.Aspect, r.Paper)+fmt.Sprintf(format, args...))
	}
	for _, r := range p.Rows {
		switch {
		case r.idle:
			add(r, "the study has no such part or workload, expected one that it has")
		case !r.AsPublished && r.Why == "":
			add(r, "the study has %s, expected the paper's, or why: …", r.Here)
		case r.AsPublished && slices.Contains(silent, r.Paper):
			add(r, "nothing is known of the paper's, expected here: … and why: …")
		case r.AsPublished && r.Why != "":
			add(r, "nothing differs, expected no why")
		}
		for scale := range r.At {
			if p.Scales[scale] == "" {
				add(r, "at the scale %s it is %s, expected the paper's, or a line for that scale in scales", scale, r.At[scale])
			}
		}
	}
	return out
}

// Title names what a row is about.
func (r *PaperFact) Title() string {
	of := r.Workloads
	if len(of) == 0 {
		of = r.Parts
	}
	if len(of) == 0 {
		return r.Aspect
	}
	return r.Aspect + " of " + strings.Join(of, ", ")
}
