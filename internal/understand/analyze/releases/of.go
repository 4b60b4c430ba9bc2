package releases

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"plimsoll/internal/common/stats"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/sample"
)

// Options are for Of.
type Options struct {
	// Metrics are what is looked at, in this order; where there are none it is what
	// each workload shows first. Memory and Size are always there, where they are known.
	Metrics []string
	// Threshold is the smallest relative step that is marked; 0 is Threshold.
	Threshold float64
	// Seed of the permutations.
	Seed uint64
}

// factor is the one whose levels are builds.
const factor = "build"

const permutations = 999

// Of finds the steps in a run of builds, which are of one program and in the order of
// the releases; from is the record that the result is of.
func Of(res *analyze.Result, from *record.Reader, o Options) (*Releases, error) {
	r := &Releases{Schema: schema, Run: res.Run.ID, Blocks: res.Run.Blocks, Threshold: analyze.Positive(o.Threshold, Threshold),
		Method: "aligned ranks, permuted in blocks", Correction: "maxT (Westfall & Young)",
		Alpha: sample.Alpha, Permutations: permutations, Seed: o.Seed, Releases: []Release{}, Series: []Series{}, Steps: []Step{}}
	var err error
	if r.Program, err = Program(from.Run()); err != nil {
		return nil, err
	}
	for _, b := range from.Run().Builds {
		if b.Program != r.Program {
			continue // of the set
		}
		r.Releases = append(r.Releases, Release{Name: b.Level, Version: b.Version, SHA256: b.SHA256, Bytes: b.Bytes})
	}
	for w := range res.Workloads {
		work := &res.Workloads[w]
		for t := range work.Tables {
			table := &work.Tables[t]
			if o.asks(work, table.Metric.ID) {
				r.gather(res, work, table)
			}
		}
	}
	slices.SortStableFunc(r.Series, func(a, b Series) int { return o.place(a.Metric.ID) - o.place(b.Metric.ID) })
	if len(r.Series) == 0 {
		return nil, errors.New("no build has a value of any metric that was asked for")
	}
	if err := r.memory(res, from); err != nil {
		return nil, err
	}
	r.size()
	r.find(res)
	return r, nil
}

// Program is the one whose builds a run measured, two or more: the first, where each is a
// set of several. The error says why the run has no releases.
func Program(r *record.Run) (string, error) {
	if len(r.Builds) < 2 {
		return "", errors.New("it measured fewer than two builds")
	}
	program, levels := r.Builds[0].Program, map[string]bool{}
	for _, b := range r.Builds {
		if b.Program == program {
			levels[b.Level] = true
		}
	}
	for _, b := range r.Builds {
		if !levels[b.Level] {
			return "", fmt.Errorf("it measured %s %s, and no %s of that name: releases are those of one program, each with what belongs to it", b.Program, b.Level, program)
		}
	}
	if len(levels) < 2 {
		return "", errors.New("it measured fewer than two builds")
	}
	return program, nil
}

// asks says whether a metric is looked at.
func (o *Options) asks(work *analyze.Workload, metric string) bool {
	if len(o.Metrics) > 0 {
		return slices.Contains(o.Metrics, metric)
	}
	return slices.Contains(work.Show, metric)
}

// place is where a metric stands among those that were asked for.
func (o *Options) place(metric string) int { return slices.Index(o.Metrics, metric) }

// gather makes the series of a table: one for each environment that differs from
// others in more than the build.
func (r *Releases) gather(res *analyze.Result, work *analyze.Workload, table *analyze.Table) {
	var names []string
	cells := map[string][]*analyze.Cell{}
	for i := range res.Environments {
		e := &res.Environments[i]
		k := slices.IndexFunc(r.Releases, func(x Release) bool { return x.Name == e.Levels[factor] })
		if k < 0 {
			continue
		}
		name := strings.Replace(e.ID, "/"+factor+"-"+e.Levels[factor], "", 1)
		if cells[name] == nil {
			names, cells[name] = append(names, name), make([]*analyze.Cell, len(r.Releases))
		}
		cells[name][k] = table.Cell(e.ID)
	}
	for _, name := range names {
		s := Series{Workload: work.ID, Env: name, Metric: table.Metric, Levels: []Level{}}
		any := false
		for k, c := range cells[name] {
			p := Point{Missing: analyze.NotAsked}
			if c != nil && c.Median != nil {
				p, any = Point{Estimate: c.Median}, true
				s.put(k, len(r.Releases), c.ByBlock)
			} else if c != nil && c.Missing != "" {
				p.Missing = c.Missing
			} else if why := excluded(res, name, r.Releases[k].Name); why != "" {
				p.Missing = why
			}
			s.Points = append(s.Points, p)
		}
		if any {
			r.Series = append(r.Series, s)
		}
	}
}

// excluded is why a build was not measured.
func excluded(res *analyze.Result, name, level string) string {
	for _, x := range res.Excluded {
		if x.Levels[factor] == level && strings.Replace(x.ID, "/"+factor+"-"+level, "", 1) == name {
			return x.Reason
		}
	}
	return ""
}

// put adds the values of a release. What has no logarithm is no value here.
func (s *Series) put(release, releases int, byBlock []float64) {
	for len(s.logs) < len(byBlock) {
		s.logs = append(s.logs, slices.Repeat([]float64{math.NaN()}, releases))
	}
	for b, v := range byBlock {
		if v > 0 {
			s.logs[b][release] = math.Log(v)
		}
	}
}

// size is the series of the programs' own size.
func (r *Releases) size() {
	s := Series{Metric: Size, Levels: []Level{}}
	for _, x := range r.Releases {
		s.Points = append(s.Points, Point{Estimate: &sample.Estimate{Value: float64(x.Bytes)}})
	}
	r.Series = append(r.Series, s)
}

// find looks for the steps in all series as one family.
func (r *Releases) find(res *analyze.Result) {
	var family [][][]float64
	for _, s := range r.Series {
		family = append(family, s.logs)
	}
	breaks := stats.BlockBreaks(family, stats.BreakOptions{Alpha: r.Alpha, Permutations: r.Permutations, Seed: r.Seed})
	for i := range r.Series {
		if r.Series[i].Metric.ID == Size.ID && r.Series[i].logs == nil {
			r.sizes(i)
			continue
		}
		r.steps(res, i, breaks[i])
	}
	slices.SortStableFunc(r.Steps, func(a, b Step) int { return a.After - b.After })
}
