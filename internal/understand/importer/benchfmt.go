package importer

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"strings"

	"golang.org/x/perf/benchfmt"

	"plimsoll/internal/record"
)

// readBenchfmt reads Go's benchmark format: each result line is a trial, each
// benchmark a workload. The environment is the configuration's "environment",
// else the name's part /env=…, else the file.
func readBenchfmt(data []byte, name string, b *builder) error {
	r := benchfmt.NewReader(bytes.NewReader(data), name)
	n := 0
	for r.Scan() {
		switch rec := r.Result().(type) {
		case *benchfmt.SyntaxError:
			return fmt.Errorf("it is not in Go's benchmark format: line %d: %s", rec.Line, clean(rec.Msg))
		case *benchfmt.Result:
			n++
			if err := benchResult(rec, r, b); err != nil {
				_, line := rec.Pos()
				return fmt.Errorf("line %d: %w", line, err)
			}
		}
	}
	if err := r.Err(); err != nil {
		return fmt.Errorf("reading it: %w", err)
	}
	if n == 0 {
		return errors.New("it has no results: neither hyperfine's JSON nor lines as `go test -bench` prints them")
	}
	return nil
}

func benchResult(rec *benchfmt.Result, r *benchfmt.Reader, b *builder) error {
	work, env, params := benchName(rec.Name)
	if v := rec.GetConfig("workload"); v != "" {
		work = v
	}
	if v := rec.GetConfig("environment"); v != "" {
		env = v
	}
	levels := map[string]string{}
	for _, c := range rec.Config {
		if f, ok := strings.CutPrefix(c.Key, "factor-"); ok {
			levels[f] = string(c.Value)
		}
	}
	b.host.Arch = cmp.Or(b.host.Arch, clean(rec.GetConfig("goarch")))
	b.host.OS = cmp.Or(b.host.OS, clean(rec.GetConfig("goos")))
	b.host.CPU = cmp.Or(b.host.CPU, clean(rec.GetConfig("cpu")))
	w := b.workload(work, params)
	t := record.Trial{
		Workload: w.ID,
		Env:      b.env(env, rec.GetConfig("engine"), rec.GetConfig("baseline"), levels),
		Values:   map[string]float64{},
	}
	for _, v := range rec.Values {
		value, unit := v.Value, v.Unit
		if v.OrigUnit != "" {
			value, unit = v.OrigValue, v.OrigUnit
		}
		m, scale := benchMetric(unit)
		value *= scale
		if math.IsNaN(value) || math.IsInf(value, 0) {
			return fmt.Errorf("%s has the value %g, which cannot be analysed", clean(unit), value)
		}
		switch r.Units().GetBetter(unit) {
		case 1:
			m.Better = record.HigherIsBetter
		case -1:
			m.Better = record.LowerIsBetter
		}
		if err := metric(w, m); err != nil {
			return err
		}
		t.Values[m.ID] = value
	}
	return b.trial(t)
}

// benchName takes a benchmark's name apart. A part key=value is a parameter;
// the one of the environment is no part of the workload.
func benchName(n benchfmt.Name) (work, env string, params map[string]string) {
	base, parts := n.Parts()
	work, params = string(base), map[string]string{}
	for _, part := range parts {
		s := string(part)
		key, value, ok := strings.Cut(strings.TrimPrefix(s, "/"), "=")
		switch {
		case s == "/":
			continue
		case ok && key == "env":
			env = value
			continue
		case ok:
			params[key] = value
		}
		work += s
	}
	return work, env, params
}

// benchMetric makes a metric of a unit, and what to multiply its values by. A
// unit that is none of Go's own is a name and a unit: startup-ns/op.
func benchMetric(unit string) (record.Metric, float64) {
	m := record.Metric{Better: record.LowerIsBetter}
	switch unit {
	case "ns/op":
		m.ID, m.Unit, m.What = "time", "ns", "time of one operation"
	case "MB/s":
		m.ID, m.Unit, m.What, m.Better = "throughput", "bytes/s", "bytes processed a second", record.HigherIsBetter
		m.Title = m.ID
		return m, 1e6
	case "B/op":
		m.ID, m.Unit, m.What = "allocated", "bytes", "memory allocated by one operation"
	case "allocs/op":
		m.ID, m.Unit, m.What = "allocs", "allocs", "allocations of one operation"
	default:
		m.ID, m.Unit = clean(unit), ""
		if i := strings.LastIndexByte(unit, '-'); i > 0 && i+1 < len(unit) {
			m.ID, m.Unit = clean(unit[:i]), clean(unit[i+1:])
		}
		if m.Unit == "ns/op" {
			m.Unit = "ns"
		}
		if strings.HasSuffix(unit, "/s") {
			m.Better = record.HigherIsBetter
		}
		if known, ok := record.MetricByID(m.ID); ok && known.Unit == m.Unit {
			m = known
			m.From, m.To = "", ""
			return m, 1
		}
		m.What = "as the file names it: " + clean(unit)
	}
	m.Title = m.ID
	return m, 1
}
