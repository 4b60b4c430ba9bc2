package plot

import (
	"fmt"
	"io"

	"plimsoll/internal/understand/analyze/history"
	"plimsoll/internal/understand/analyze/releases"
	"plimsoll/internal/understand/analyze/sample"
	"plimsoll/internal/understand/words"
)

// Releases writes a picture of many builds of one program: a strip for each series, as
// that of a history, with the releases in the place of its runs.
func Releases(w io.Writer, format string, r *releases.Releases, o Options) error {
	o, err := o.normal()
	if err != nil {
		return err
	}
	h := releasesHistory(r)
	n := min(maxSeries, len(h.Series))
	if n == 0 {
		return noData("no series of these releases")
	}
	p := &picture{
		name: "releases", title: words.Clean(r.Program) + " over its releases", height: seriesH*float64(n) + axisH,
		sub: []string{words.Plural(len(r.Releases), "release") + ", measured in the same " + words.Plural(r.Blocks, "block")},
		notes: []string{fmt.Sprintf("Each point is a release with its 95 %% interval, each strip has a scale of its own. Lines are levels; a vertical line is a step of at least %.3g %% (%s; %.3g %% for a false one in all series together).",
			100*r.Threshold, words.Clean(r.Method), 100*r.Alpha)},
	}
	p.describeHistory(h)
	p.body = func(s surface, b box) { drawHistory(s, b, h, n) }
	return p.write(w, format, o)
}

// releasesHistory has the releases as runs of a history.
func releasesHistory(r *releases.Releases) *history.History {
	h := &history.History{Study: r.Program}
	for _, x := range r.Releases {
		h.Runs = append(h.Runs, history.PastRun{Run: x.Name})
	}
	for i := range r.Series {
		s := &r.Series[i]
		out := history.Series{Workload: s.Workload, Env: s.Env, Engine: s.Env, Metric: s.Metric}
		if s.Workload == "" {
			out.Workload, out.Env = "its file", r.Program
		}
		for _, p := range s.Points {
			out.Points = append(out.Points, history.Point{Estimate: p.Estimate, Missing: p.Missing})
		}
		for _, l := range s.Levels {
			out.Regimes = append(out.Regimes, history.Regime{First: l.First, Last: l.Last, Level: sample.Estimate{Value: l.Value}})
		}
		h.Series = append(h.Series, out)
	}
	for _, s := range r.Steps {
		h.Changes = append(h.Changes, history.Change{Series: s.Series, Before: s.Before, After: s.After, Confirmed: true, Ratio: s.Ratio, Direction: s.Direction, P: s.P})
	}
	return h
}
