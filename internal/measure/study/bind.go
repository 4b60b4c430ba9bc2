package study

import (
	"fmt"
	"maps"
	"slices"

	"plimsoll/internal/common/yamlfile"
	"plimsoll/internal/record"
)

// Bind puts other images in the place of some that the study names: as a level
// of the factor image, and as the image that a workload is handed (pull). A
// published table and a claim that mean the one mean the other then. The study
// keeps what was bound, and the environments have the names of what runs.
func (s *Study) Bind(images map[string]string, cat *Catalogue) error {
	cat = cat.with(s.own)
	named := s.images()
	p := &yamlfile.Problems{}
	for _, from := range slices.Sorted(maps.Keys(images)) {
		to := images[from]
		if !slices.Contains(named, from) {
			p.Unknown(yamlfile.Pos{}, "image of the study to be bound", from, named)
		}
		if known := cat.levels(imageFactor); !slices.Contains(known, to) && !isReference(to) {
			p.Unknown(yamlfile.Pos{}, "image", to, known)
		}
		for _, w := range s.handed(from) {
			if info := cat.workload(w); !info.takes(imageFactor, to) {
				p.Add(yamlfile.Pos{}, fmt.Sprintf("the workload %s can't be handed the image %s for %s", w, yamlfile.Quote(to), from), info.describe(imageFactor))
			}
		}
	}
	if p.Any() {
		return p.Err()
	}
	b := binding(images)
	for i := range s.Parts {
		for k := range s.Parts[i].Environments {
			b.axes(s.Parts[i].Environments[k].Factors)
		}
		for k := range s.Parts[i].Workloads {
			b.axes(s.Parts[i].Workloads[k].Parameters)
		}
	}
	if to, ok := images[s.Common[imageFactor]]; ok {
		s.Common = maps.Clone(s.Common)
		s.Common[imageFactor] = to
	}
	for i := range s.Exclude {
		b.also(s.Exclude[i].When)
	}
	for i := range s.Tables {
		for _, columns := range [][]record.PaperColumn{s.Tables[i].Engines, s.Tables[i].Images} {
			for k := range columns {
				b.also(columns[k].Levels)
			}
		}
		for k := range s.Tables[i].Rows {
			r := &s.Tables[i].Rows[k]
			if to, ok := images[r.Params[imageFactor]]; ok {
				r.Params = maps.Clone(r.Params)
				r.Params[imageFactor] = to
			}
		}
	}
	for i := range s.Claims {
		for k := range s.Claims[i].Tests {
			b.test(&s.Claims[i].Tests[k])
		}
		for k := range s.Claims[i].Answers {
			b.test(&s.Claims[i].Answers[k].Test)
		}
	}
	s.Images = maps.Clone(images)
	return nil
}

// images lists those that the study names, each once.
func (s *Study) images() []string {
	var out []string
	add := func(axes []Axis) {
		for _, a := range axes {
			if a.Name == imageFactor {
				out = append(out, a.Levels...)
			}
		}
	}
	for _, p := range s.Parts {
		for _, e := range p.Environments {
			add(e.Factors)
		}
		for _, w := range p.Workloads {
			add(w.Parameters)
		}
	}
	if c := s.Common[imageFactor]; c != "" {
		out = append(out, c)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// handed lists the workloads that are handed an image.
func (s *Study) handed(image string) []string {
	var out []string
	for _, p := range s.Parts {
		for _, w := range p.Workloads {
			for _, a := range w.Parameters {
				if a.Name == imageFactor && slices.Contains(a.Levels, image) {
					out = append(out, w.Name)
				}
			}
		}
	}
	return out
}

// binding is an image by the one whose place it takes.
type binding map[string]string

// axes replaces levels, and keeps each once.
func (b binding) axes(axes []Axis) {
	for i := range axes {
		if axes[i].Name != imageFactor {
			continue
		}
		var levels []string
		for _, l := range axes[i].Levels {
			if to, ok := b[l]; ok {
				l = to
			}
			if !slices.Contains(levels, l) {
				levels = append(levels, l)
			}
		}
		axes[i].Levels = levels
	}
}

// also lets whatever means an image mean what takes its place, too.
func (b binding) also(levels map[string][]string) {
	list := levels[imageFactor]
	for _, l := range slices.Clone(list) {
		if to, ok := b[l]; ok && !slices.Contains(list, to) {
			list = append(slices.Clip(list), to)
		}
	}
	if list != nil {
		levels[imageFactor] = list
	}
}

func (b binding) test(t *record.ClaimTest) {
	for _, levels := range []map[string][]string{t.Of, t.To, t.Workload.Params} {
		b.also(levels)
	}
	if t.ToWorkload != nil {
		b.also(t.ToWorkload.Params)
	}
}
