package export

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/evaluate"
)

// family is one metric family of OpenMetrics: its samples must stand together.
type family struct {
	name, unit, kind, help string
	samples                []string
}

// families keeps the order in which families were first met.
type families struct {
	list []*family
	at   map[string]*family
}

func (f *families) get(name, unit, kind, help string) *family {
	if old := f.at[name]; old != nil {
		return old
	}
	if f.at == nil {
		f.at = map[string]*family{}
	}
	n := &family{name: name, unit: unit, kind: kind, help: help}
	f.at[name], f.list = n, append(f.list, n)
	return n
}

// add appends a sample; pairs are names and values of labels. Those without a
// value are left out, as OpenMetrics means them.
func (f *family) add(suffix string, v float64, pairs ...string) {
	var b strings.Builder
	b.WriteString(f.name + suffix + "{")
	n := 0
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] == "" {
			continue
		}
		if n++; n > 1 {
			b.WriteByte(',')
		}
		b.WriteString(pairs[i] + `="` + omEscape(pairs[i+1]) + `"`)
	}
	b.WriteString("} " + strconv.FormatFloat(v, 'g', -1, 64))
	f.samples = append(f.samples, b.String())
}

// writeOpenMetrics writes medians, their intervals, ratios to the baselines and
// counts as gauges in the text format 1.0, in base units, for a file that a
// node exporter collects or a gateway takes. See https://openmetrics.io.
func writeOpenMetrics(w io.Writer, r *record.Reader, opts Options) error {
	res, err := evaluate.Run(r, evaluate.Options{})
	if err != nil {
		return err
	}
	f := &families{}
	f.get("plimsoll_run", "", "info", "The run that the other samples are of.").add("_info", 1,
		"run", res.Run.ID, "study", res.Run.Study, "status", res.Run.Status, "version", res.Run.Tool.Version,
		"kernel", res.Run.Host.Kernel, "arch", res.Run.Host.Arch, "cpu", res.Run.Host.CPU, "order", res.Run.Protocol.Order, "tuned", tuned(&res.Run.Protocol))
	for i := range res.Workloads {
		work := &res.Workloads[i]
		for e := range res.Environments {
			counts(f, res, work, e)
		}
		for t := range work.Tables {
			if opts.Metric != "" && work.Tables[t].Metric.ID != opts.Metric {
				continue
			}
			for e := range res.Environments {
				estimates(f, res, work, &work.Tables[t], e)
			}
		}
	}
	out := bufio.NewWriter(w)
	for _, x := range f.list {
		fmt.Fprintf(out, "# TYPE %s %s\n", x.name, x.kind)
		if x.unit != "" {
			fmt.Fprintf(out, "# UNIT %s %s\n", x.name, x.unit)
		}
		fmt.Fprintf(out, "# HELP %s %s\n", x.name, omEscape(x.help))
		for _, s := range x.samples {
			fmt.Fprintln(out, s)
		}
	}
	fmt.Fprintln(out, "# EOF")
	return out.Flush()
}

// omLabels are those of every sample of an environment with a workload.
func omLabels(res *analyze.Result, work *analyze.Workload, e int) []string {
	env := &res.Environments[e]
	return []string{"run", res.Run.ID, "workload", work.ID, "environment", env.ID, "engine", env.Engine, "baseline", env.Baseline}
}

func counts(f *families, res *analyze.Result, work *analyze.Workload, e int) {
	n, labels := work.Counts[e], omLabels(res, work, e)
	f.get("plimsoll_trials", "", "gauge", "Counted trials, failed ones too.").add("", float64(n.Trials), labels...)
	f.get("plimsoll_failed_trials", "", "gauge", "Counted trials that failed.").add("", float64(n.Failed), labels...)
}

func estimates(f *families, res *analyze.Result, work *analyze.Workload, t *analyze.Table, e int) {
	c := &t.Cells[e]
	if c.Median == nil {
		return
	}
	labels := omLabels(res, work, e)
	name := "plimsoll_" + omName(t.Metric.ID)
	unit, by := omUnit(t.Metric.Unit)
	full := name
	if unit != "" && !strings.HasSuffix(name, "_"+unit) {
		full += "_" + unit
	}
	g := f.get(full, unit, "gauge", cmp.Or(t.Metric.What, t.Metric.Title, t.Metric.ID)+", median over the counted trials, with the ends of its 95 % interval, and the extremes.")
	with := func(g *family, v *float64, by float64, more ...string) {
		if v != nil {
			g.add("", *v/by, append(labels[:len(labels):len(labels)], more...)...)
		}
	}
	with(g, &c.Median.Value, by, "estimate", "median")
	with(g, c.Median.Lo, by, "estimate", "median_low")
	with(g, c.Median.Hi, by, "estimate", "median_high")
	with(g, c.Min, by, "estimate", "min")
	with(g, c.Max, by, "estimate", "max")
	for i := range c.Ratios {
		q := &c.Ratios[i]
		if q.Missing != "" {
			continue
		}
		g := f.get(name+"_over_baseline_ratio", "ratio", "gauge", "Ratio to a baseline, from pairs of the same block, with the ends of its 95 % interval.")
		with(g, &q.Value, 1, "over", q.Baseline, "estimate", "ratio")
		with(g, q.Lo, 1, "over", q.Baseline, "estimate", "ratio_low")
		with(g, q.Hi, 1, "over", q.Baseline, "estimate", "ratio_high")
	}
}

// omUnit is the base unit in OpenMetrics' words, and what to divide by.
func omUnit(unit string) (string, float64) {
	switch unit {
	case "ns":
		return "seconds", 1e9
	case "B", "bytes":
		return "bytes", 1
	case "B/s", "bytes/s":
		return "bytes_per_second", 1
	case "bit/s":
		return "bits_per_second", 1
	case "1/s":
		return "per_second", 1
	case "%":
		return "ratio", 100
	}
	return strings.Trim(omName(unit), "_"), 1
}

// omName makes an id a part of a metric's name.
func omName(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, strings.ReplaceAll(s, "/", "_per_"))
}

var omReplacer = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

func omEscape(s string) string { return omReplacer.Replace(clean(s)) }
