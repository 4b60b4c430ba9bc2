package export

import (
	"encoding/json"
	"io"
	"maps"

	"gonum.org/v1/gonum/stat"

	"plimsoll/internal/common/stats"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze/derive"
	"plimsoll/internal/understand/analyze/evaluate"
)

// hyperfineResult is one command in hyperfine's JSON. Times are seconds.
type hyperfineResult struct {
	Command string  `json:"command"`
	Mean    float64 `json:"mean"`
	// StdDev is the sample's (n−1), null for a single time.
	StdDev *float64 `json:"stddev"`
	Median float64  `json:"median"`
	// User and System are the means of the client's own processes, 0 where
	// they were not measured.
	User       float64           `json:"user"`
	System     float64           `json:"system"`
	Min        float64           `json:"min"`
	Max        float64           `json:"max"`
	Times      []float64         `json:"times"`
	ExitCodes  []int             `json:"exit_codes"`
	Parameters map[string]string `json:"parameters"`

	clients float64 // how many trials told of the client's processes
}

// writeHyperfine writes one duration of each workload in each environment as
// hyperfine would: the metric that is asked for, else the first duration that
// a report shows. Trials that failed have no time there.
func writeHyperfine(w io.Writer, r *record.Reader, opts Options) error {
	res, err := evaluate.Run(r, evaluate.Options{})
	if err != nil {
		return err
	}
	run, x := r.Run(), newIndex(r.Run())
	metrics := make([]*record.Metric, len(run.Workloads))
	for i := range metrics {
		metrics[i] = duration(x.metrics[i], res.Workloads[i].Show, opts.Metric)
	}
	cells := make([]*hyperfineResult, len(run.Workloads)*len(run.Environments))
	for t, err := range derive.Trials(r) {
		if err != nil {
			return err
		}
		e, i, err := x.find(t)
		if err != nil {
			return err
		}
		if t.Warmup || !t.OK() || metrics[i] == nil {
			continue
		}
		v, ok := metrics[i].Value(t)
		if !ok {
			continue
		}
		at := i*len(run.Environments) + e
		if cells[at] == nil {
			cells[at] = newHyperfine(&run.Workloads[i], &run.Environments[e], metrics[i])
		}
		cells[at].add(v, t)
	}
	out := struct {
		Results []*hyperfineResult `json:"results"`
	}{Results: []*hyperfineResult{}}
	for _, c := range cells {
		if c != nil {
			c.sum()
			out.Results = append(out.Results, c)
		}
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(out)
}

// duration chooses a metric in nanoseconds, nil where there is none.
func duration(metrics []record.Metric, show []string, asked string) *record.Metric {
	if asked != "" {
		show = []string{asked}
	}
	for _, id := range show {
		for i := range metrics {
			if metrics[i].ID == id && metrics[i].Unit == "ns" {
				return &metrics[i]
			}
		}
	}
	return nil
}

// newHyperfine names a cell. Parameters say what the command's name says, and
// the factors, so that it can be taken apart again.
func newHyperfine(work *record.Workload, env *record.Environment, m *record.Metric) *hyperfineResult {
	p := map[string]string{"workload": work.ID, "environment": env.ID, "engine": env.Engine, "metric": m.ID}
	for k, v := range env.Levels {
		p["factor_"+k] = v
	}
	for k, v := range work.Params {
		p["param_"+k] = v
	}
	maps.DeleteFunc(p, func(_, v string) bool { return v == "" })
	return &hyperfineResult{Command: clean(work.ID + " in " + env.ID), Parameters: p}
}

func (c *hyperfineResult) add(ns float64, t *record.Trial) {
	c.Times = append(c.Times, ns/1e9)
	// The trial has succeeded, which hyperfine's readers know by a 0. The
	// payload's own status may be another: that of the signal that stopped it.
	c.ExitCodes = append(c.ExitCodes, 0)
	if t.Client != nil {
		c.clients++
		c.User += float64(t.Client.UserNS) / 1e9
		c.System += float64(t.Client.SystemNS) / 1e9
	}
}

func (c *hyperfineResult) sum() {
	if c.clients > 0 {
		c.User, c.System = c.User/c.clients, c.System/c.clients
	}
	mean, sd := stat.MeanStdDev(c.Times, nil)
	c.Mean = mean
	if len(c.Times) > 1 {
		c.StdDev = &sd
	}
	x := stats.Sorted(c.Times)
	c.Median, c.Min, c.Max = stats.Median(x), x[0], x[len(x)-1]
}
