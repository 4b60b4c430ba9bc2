package findings

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
)

// newest leaves of each pair that several runs have the one of the run that began
// last, among those that have values of it. So a claim that was measured anew is
// judged by that, and one whose environments are spread over several runs by all
// of them. older are the runs of which pairs were left out.
func newest(runs []*analyze.Result, pairs []pair) (kept []pair, older []string) {
	if len(runs) < 2 {
		return pairs, nil
	}
	at := map[string]int{}
	for _, p := range pairs {
		key := keyOf(runs, &p)
		i, ok := at[key]
		if !ok {
			at[key] = len(kept)
			kept = append(kept, p)
			continue
		}
		out := p
		if newer(runs, &p, &kept[i]) {
			kept[i], out = p, kept[i]
		}
		if out.Run != kept[i].Run && !slices.Contains(older, out.Run) {
			older = append(older, out.Run)
		}
	}
	return kept, older
}

// newer says whether a is to count in place of b.
func newer(runs []*analyze.Result, a, b *pair) bool {
	has := func(p *pair) bool { return p.counted != nil || p.sample.Blocks() > 0 }
	if has(a) != has(b) {
		return has(a)
	}
	x, y := runOf(runs, a.Run), runOf(runs, b.Run)
	return x != nil && y != nil && x.Run.Started.After(y.Run.Started)
}

func runOf(runs []*analyze.Result, id string) *analyze.Result {
	i := slices.IndexFunc(runs, func(r *analyze.Result) bool { return r.Run.ID == id })
	if i < 0 {
		return nil
	}
	return runs[i]
}

// keyOf names a pair alike in all runs: by what was asked for, since an
// environment's id depends on what else is in its run.
func keyOf(runs []*analyze.Result, p *pair) string {
	r := runOf(runs, p.Run)
	key := fmt.Sprint(p.Test)
	for _, s := range []*analyze.ClaimSide{&p.A, p.B} {
		if s == nil {
			continue
		}
		key += "\n" + s.Engine + "\t" + s.Metric + "\t" + workKey(r, s.Workload)
		if e := r.Environment(s.Env); e != nil {
			key += "\t" + envKey(e)
		}
	}
	return key
}

// envKey is what was asked for of an environment, and the name by which one
// stands beside itself.
func envKey(e *record.Environment) string {
	_, as, _ := strings.Cut(e.ID, "@")
	return flat(e.Levels) + "@" + as
}

func workKey(r *analyze.Result, id string) string {
	for i := range r.Workloads {
		if w := &r.Workloads[i]; w.ID == id {
			return w.Group() + " " + flat(w.Params)
		}
	}
	return id
}

func flat(m map[string]string) string {
	var out strings.Builder
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if m[k] != analyze.ClaimDefault {
			fmt.Fprintf(&out, "%s=%s ", k, m[k])
		}
	}
	return out.String()
}

// runsOf are the runs of pairs.
func runsOf(pairs []pair) []string {
	var out []string
	for i := range pairs {
		out = analyze.Also(out, pairs[i].Run)
	}
	return out
}
