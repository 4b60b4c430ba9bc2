package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze/sample"
	"plimsoll/internal/understand/document"
	"plimsoll/internal/understand/verdict"
	"plimsoll/internal/understand/words"
)

// mostLines bounds the workloads that have a line on a screen.
const mostLines = 20

// line is a workload by its best and its worst environment.
type line struct {
	*verdict.Answer
	worst string
	by    sample.Estimate // how many times worse the worst is than the best; 0 where there is none
	apart bool            // the two are told apart
}

// lines are those of all workloads, the largest differences first.
func (s *screen) lines() []line {
	var out []line
	for i := range s.answers {
		a := &s.answers[i]
		l := line{Answer: a, worst: a.All[len(a.All)-1]}
		if p := a.Behind(l.worst, a.All[0]); p != nil {
			l.by, l.apart = p.Estimate, a.Apart(l.worst, a.All[0])
		}
		out = append(out, l)
	}
	slices.SortStableFunc(out, func(a, b line) int {
		if a.apart != b.apart {
			return map[bool]int{true: -1, false: 1}[a.apart]
		}
		return cmp.Compare(b.by.Value, a.by.Value)
	})
	return out
}

// many is the screen of several workloads: a line each.
func (s *screen) many() {
	all := s.overall()
	s.failedChecks()
	s.doubts(nil)
	s.checks()
	s.Add(document.Gap{})
	t := &document.Table{Columns: document.Columns("workload", "best", "worst", "× best")}
	t.Columns[3].Points = true
	shown := all[:min(len(all), mostLines)]
	names := 0
	for _, l := range shown {
		names = max(names, words.Width(words.Clean(l.Work.ID)))
	}
	names = min(names, max(leastWorkload, s.Width/3))
	room := max(10, (s.Width-names-3*document.Between-8)/2)
	whole := lists.Map(shown, func(l line) string { return words.Clean(l.Work.ID) })
	titles := words.Apart(whole, names, names)
	ends := s.ends(shown, room, names)
	for i, l := range shown {
		cells := document.Cells(titles[i], ends[i][0].text(), ends[i][1].text(), "")
		if l.by.Value > 0 && l.worst != l.All[0] {
			if cells[3].Text = words.Factor(l.by.Value); !l.apart {
				cells[3].Tail = "~"
			}
		}
		row := document.Row{Cells: cells}
		if !l.apart {
			row.Tone = document.Dim
		}
		t.Rows = append(t.Rows, row)
	}
	if over := t.Width() - s.Width; over > 0 { // long numbers: a name gives way, no factor does
		names = max(leastWorkload, names-over)
		for i, title := range words.Apart(whole, names, names) {
			t.Rows[i].Cells[0].Text = title
		}
	}
	s.Add(t)
	s.others(all, len(shown))
	s.Add(document.Gap{})
}

// overall is the headline, and who is best how often.
func (s *screen) overall() []line {
	s.headline(fmt.Sprintf("%s, %s", words.Plural(len(s.res.Workloads), "workload"), words.Plural(s.engines(), "environment")))
	s.Add(document.Gap{})
	all := s.lines()
	s.winners(all)
	if all[0].apart {
		s.largest(&all[0])
	}
	s.acquainted(all)
	return all
}

// largest is the line about the largest difference, with whole names where they
// have room.
func (s *screen) largest(l *line) {
	text := ""
	for _, most := range []int{0, 30, 22, 16, 12} {
		work, two := words.Clean(l.Work.ID), []string{words.Clean(l.worst), words.Clean(l.All[0])}
		said := worded[0]
		if most > 0 {
			work, two = words.Shorten(work, most), words.Apart(two, most, most)
			said = wording{most > 16, true}
		}
		text = fmt.Sprintf("%s: %s %s", work, two[0], said.worse(l.Table.Metric, l.by, two[1]))
		if words.Width(text) <= s.room() {
			break
		}
	}
	s.says("Largest", text, document.Plain)
}

// others counts the workloads that have no line.
func (s *screen) others(all []line, shown int) {
	less, same := 0, 0
	for _, l := range all[shown:] {
		if l.apart {
			less++
		} else {
			same++
		}
	}
	if text := othersText(less, same, len(s.res.Workloads)-len(all)); text != "" {
		s.Legend(words.Cut(text, s.Width))
	}
	s.Legend(words.Cut("× best: times worse than the best · one of them: --workload NAME", s.Width))
}

// othersText says of how many workloads without a line the environments differ, of how
// many they are not told apart, and how many have no value.
func othersText(less, same, none int) string {
	var parts []string
	add := func(n int, one, many string) {
		switch {
		case n == 1:
			parts = append(parts, "1 "+one)
		case n > 1:
			parts = append(parts, fmt.Sprintf("%d %s", n, many))
		}
	}
	add(less, "more differs less", "more differ less")
	more := "more "
	if less > 0 {
		more = "" // is said already
	}
	add(same, more+"cannot be told apart yet (~)", more+"cannot be told apart yet (~)")
	add(none, "has no value", "have no value")
	return strings.Join(parts, ", ")
}

// engines are the environments that are no baselines.
func (s *screen) engines() int {
	n := lists.Count(s.res.Environments, func(e record.Environment) bool { return e.Baseline == "" })
	return cmp.Or(n, len(s.res.Environments))
}

// winners says how often each environment is best, where it is told from the worst.
func (s *screen) winners(all []line) {
	times, order, open := map[string]int{}, []string{}, 0
	for _, l := range all {
		if !l.apart {
			open++
			continue
		}
		if times[l.All[0]]++; times[l.All[0]] == 1 {
			order = append(order, l.All[0])
		}
	}
	slices.SortStableFunc(order, func(a, b string) int { return times[b] - times[a] })
	parts := lists.Map(order, func(e string) string { return fmt.Sprintf("%s in %d", words.Clean(e), times[e]) })
	if open > 0 {
		parts = append(parts, fmt.Sprintf("%d cannot be told", open))
	}
	text, _ := s.fits(parts, ", ", " and %d more", 0)
	s.says("Best", text, document.Head)
}
