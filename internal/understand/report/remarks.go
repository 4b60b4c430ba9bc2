package report

import (
	"slices"
	"strconv"
	"strings"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/words"
)

// remarkGroup is all remarks of one code and advice, with one number.
type remarkGroup struct {
	number  int
	code    string
	level   string
	advice  string
	remarks []record.Remark
}

// groupRemarks numbers the remarks that belong to what is shown: the run, the
// counts, and the metrics of the rankings. hidden is how many others there are.
func groupRemarks(res *analyze.Result, rankings []*ranking) (groups []*remarkGroup, hidden int) {
	for _, m := range res.Remarks {
		if m.Metric != "" && !slices.ContainsFunc(rankings, func(r *ranking) bool {
			return r.work.ID == m.Workload && r.table.Metric.ID == m.Metric
		}) {
			hidden++
			continue
		}
		i := slices.IndexFunc(groups, func(g *remarkGroup) bool {
			return g.code == m.Code && g.level == m.Level && g.advice == m.Advice
		})
		if i < 0 {
			groups = append(groups, &remarkGroup{number: len(groups) + 1, code: m.Code, level: m.Level, advice: m.Advice})
			i = len(groups) - 1
		}
		groups[i].remarks = append(groups[i].remarks, m)
	}
	for _, r := range rankings {
		r.notes = map[string][]int{}
		for _, g := range groups {
			for _, m := range g.remarks {
				if m.Env == "" || m.Workload != "" && m.Workload != r.work.ID || m.Metric != "" && m.Metric != r.table.Metric.ID {
					continue
				}
				if !slices.Contains(r.notes[m.Env], g.number) {
					r.notes[m.Env] = append(r.notes[m.Env], g.number)
				}
			}
		}
	}
	for _, r := range rankings {
		r.forgetCommon(groups)
	}
	return groups, hidden
}

// forgetCommon takes away the numbers that every row would bear: what is said
// of all needs no pointer.
func (r *ranking) forgetCommon(groups []*remarkGroup) {
	for _, g := range groups {
		n := 0
		for _, e := range r.order {
			if slices.Contains(r.notes[e], g.number) {
				n++
			}
		}
		if n < len(r.order) || n < 4 {
			continue
		}
		for e, notes := range r.notes {
			r.notes[e] = slices.DeleteFunc(notes, func(k int) bool { return k == g.number })
			if len(r.notes[e]) == 0 {
				delete(r.notes, e)
			}
		}
	}
}

// counted takes the number of trials off a remark on single ones: "4 trials: why".
func counted(text string) (n int, rest string) {
	first, rest, ok := strings.Cut(text, ": ")
	number, noun, _ := strings.Cut(first, " ")
	n, err := strconv.Atoi(number)
	if !ok || err != nil || strings.TrimSuffix(noun, "s") != "trial" {
		return 0, text
	}
	return n, rest
}

// text says what the group's remarks say, each sentence once, after the
// environments that it belongs to and the number of trials that it counts.
func (g *remarkGroup) text() string {
	var sentences []string
	envs, trials := map[string][]string{}, map[string]int{}
	for _, m := range g.remarks {
		n, s := counted(words.Clean(m.Text))
		trials[s] += n
		if !slices.Contains(sentences, s) {
			sentences = append(sentences, s)
		}
		if e := words.Name(m.Env); e != "" && !slices.Contains(envs[s], e) {
			envs[s] = append(envs[s], e)
		}
	}
	for i, s := range sentences {
		who := strings.Join(envs[s], ", ")
		if n := trials[s]; n > 0 {
			who = strings.TrimSuffix(words.Plural(n, "trial")+" of "+who, " of ")
		}
		if who != "" {
			sentences[i] = who + ": " + s
		}
		if i < len(sentences)-1 {
			sentences[i] = strings.TrimSuffix(sentences[i], ".")
		}
	}
	return strings.Join(sentences, "; ")
}

// rankings are the tables to show.
func rankingsOf(res *analyze.Result, opts Options) []*ranking {
	var out []*ranking
	for w := range res.Workloads {
		work := &res.Workloads[w]
		ids := work.Show
		if opts.Metric != "" {
			ids = []string{opts.Metric}
		}
		for _, id := range ids {
			t := work.Table(id)
			if t == nil {
				continue
			}
			if c, _, agree := t.Checked(); c == nil || !agree || opts.Metric != "" { // else a line says it
				out = append(out, newRanking(work, t, opts))
			}
		}
	}
	return out
}
