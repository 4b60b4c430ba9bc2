package export

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze/derive"
)

// writeBenchfmt writes Go's benchmark format, which benchstat reads: a line for
// each counted trial that succeeded, grouped by workload and environment. What
// holds for a group stands before it as configuration lines; workload,
// environment and parameters are the benchmark's name. See
// https://golang.org/design/14313-benchmark-format.
//
// A unit carries the metric's name (startup-ns/op), so that two metrics can
// never be taken for one.
func writeBenchfmt(w io.Writer, r *record.Reader, opts Options) error {
	run, x := r.Run(), newIndex(r.Run())
	groups := make([]benchGroup, len(run.Workloads)*len(run.Environments))
	for t, err := range derive.Trials(r) {
		if err != nil {
			return err
		}
		e, i, err := x.find(t)
		if err != nil {
			return err
		}
		g := &groups[i*len(run.Environments)+e]
		switch {
		case t.Warmup:
		case !t.OK():
			g.fail(t.Failure.Class)
		default:
			g.add(benchName(&run.Workloads[i], run.Environments[e].ID), x.metrics[i], t, opts.Metric)
		}
	}
	out := &bytes.Buffer{}
	benchHead(out, run)
	benchUnits(out, x, opts.Metric)
	c := benchConfig{keys: benchKeys(run)}
	for i := range groups {
		g := &groups[i]
		if len(g.lines) == 0 && len(g.failed) == 0 {
			continue
		}
		work, env := &run.Workloads[i/len(run.Environments)], &run.Environments[i%len(run.Environments)]
		c.write(out, work, env)
		for _, class := range slices.Sorted(maps.Keys(g.failed)) {
			fmt.Fprintf(out, "# %s in %s: %d trials failed (%s)\n", benchWord(work.ID), benchWord(env.ID), g.failed[class], clean(string(class)))
		}
		out.Write(g.lines)
		if _, err := out.WriteTo(w); err != nil {
			return err
		}
	}
	_, err := out.WriteTo(w)
	return err
}

// benchGroup is what one environment did with one workload.
type benchGroup struct {
	lines  []byte
	failed map[record.Class]int
}

func (g *benchGroup) fail(c record.Class) {
	if g.failed == nil {
		g.failed = map[record.Class]int{}
	}
	g.failed[c]++
}

func (g *benchGroup) add(name string, metrics []record.Metric, t *record.Trial, only string) {
	from := len(g.lines)
	g.lines = append(append(g.lines, name...), "\t1"...)
	some := false
	for i := range metrics {
		if only != "" && metrics[i].ID != only {
			continue
		}
		if v, ok := metrics[i].Value(t); ok {
			g.lines = append(g.lines, '\t')
			g.lines = strconv.AppendFloat(g.lines, v, 'g', -1, 64)
			g.lines = append(append(g.lines, ' '), benchUnit(&metrics[i])...)
			some = true
		}
	}
	if !some {
		g.lines = g.lines[:from] // the format knows no result without a value
		return
	}
	g.lines = append(g.lines, '\n')
}

// benchName is the benchmark's name. It begins with a capital letter, as Go's
// testing wants it.
func benchName(work *record.Workload, env string) string {
	var b strings.Builder
	b.WriteString("Benchmark")
	for i, r := range benchWord(work.ID) {
		if i == 0 {
			r = unicode.ToUpper(r)
		}
		b.WriteRune(r)
	}
	b.WriteString("/env=" + benchWord(env))
	for _, k := range slices.Sorted(maps.Keys(work.Params)) {
		b.WriteString("/" + benchWord(k) + "=" + benchWord(work.Params[k]))
	}
	// "-8" at the end would be read as the number of processors.
	if s := b.String(); endsLikeProcs(s) {
		return s + "/"
	}
	return b.String()
}

func endsLikeProcs(s string) bool {
	head := strings.TrimRight(s, "0123456789")
	return head != s && strings.HasSuffix(head, "-")
}

// benchWord makes text a part of a name: no blanks, and no '/' or '=', which
// part names from each other.
func benchWord(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || r == '/' || r == '=' {
			return '_'
		}
		return r
	}, clean(s))
}

func benchUnit(m *record.Metric) string {
	unit := strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return '_'
		}
		return r
	}, clean(m.Unit))
	switch unit {
	case "ns":
		unit = "ns/op"
	case "":
		unit = "1"
	}
	return benchWord(m.ID) + "-" + unit
}

// benchUnits tells benchstat which way each unit is better.
func benchUnits(out *bytes.Buffer, x *index, only string) {
	seen := map[string]bool{}
	for _, metrics := range x.metrics {
		for i := range metrics {
			m := &metrics[i]
			if u := benchUnit(m); !seen[u] && (only == "" || m.ID == only) {
				seen[u] = true
				fmt.Fprintf(out, "Unit %s better=%s\n", u, betterOf(m))
			}
		}
	}
}

func benchHead(out *bytes.Buffer, run *record.Run) {
	for _, kv := range [][2]string{
		{"run", run.ID}, {"study", run.Study.Name},
		{"goarch", run.Host.Arch}, {"cpu", run.Host.CPU},
		{"kernel", run.Host.Kernel}, {"order", run.Protocol.Order}, {"tuned", tuned(&run.Protocol)},
	} {
		if kv[1] != "" {
			fmt.Fprintf(out, "%s: %s\n", kv[0], clean(kv[1]))
		}
	}
}

// benchConfig writes the lines that change from one environment to the next.
// A key without a value ends the one before.
type benchConfig struct {
	keys [][2]string // of the format, of the factor
	last map[string]string
}

// benchKeys gives each factor its key: lower case, no blanks, no colon.
func benchKeys(run *record.Run) [][2]string {
	keys := [][2]string{{"workload", ""}, {"environment", ""}, {"engine", ""}, {"baseline", ""}}
	taken := map[string]bool{}
	for _, f := range factors(run) {
		// factor-x cannot be one of the four above.
		key := "factor-" + strings.ReplaceAll(strings.ToLower(benchWord(f)), ":", "_")
		if taken[key] || strings.ContainsFunc(key, unicode.IsUpper) {
			key = "factor_" + strconv.Itoa(len(keys)) // the underscore: no factor's own
		}
		taken[key] = true
		keys = append(keys, [2]string{key, f})
	}
	return keys
}

func (c *benchConfig) write(out *bytes.Buffer, work *record.Workload, env *record.Environment) {
	own := []string{work.ID, env.ID, env.Engine, env.Baseline}
	if c.last == nil {
		c.last = map[string]string{}
	}
	for i, k := range c.keys {
		v := env.Levels[k[1]]
		if i < len(own) {
			v = own[i]
		}
		if v = strings.TrimSpace(clean(v)); v != c.last[k[0]] {
			c.last[k[0]] = v
			fmt.Fprintln(out, strings.TrimSpace(k[0]+": "+v))
		}
	}
}
