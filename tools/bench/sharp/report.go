package sharp

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"text/tabwriter"
	"time"

	"plimsoll/internal/common/lists"
)

// Answer is what was found of a stretch.
type Answer struct {
	Engine string  `json:"engine"`
	State  string  `json:"state"`
	Start  float64 `json:"start_ns"`
	Whole  float64 `json:"whole_ns"` // by hyperfine
	// Apart is how long after one run the next one began, ns; 0 is not known.
	Apart time.Duration `json:"apart_ns,omitempty"`
	// Took is how long it was measured, ns; Blocks and Values are ours and each of
	// hyperfine's programs'.
	Took   time.Duration `json:"took_ns"`
	Runs   int           `json:"runs"`
	Blocks int           `json:"blocks"`
	Values int           `json:"values"`
	Failed int           `json:"failed"`
	// Trials is the share of our time that was trials.
	Trials     float64   `json:"trials"`
	Thresholds []float64 `json:"thresholds"`
	Rows       []Row     `json:"rows"`
	Needs      []Need    `json:"needs"`
}

// Answer judges a stretch.
func (s *Stretch) Answer(lengths []time.Duration, tries int) (*Answer, error) {
	if short := s.fits(); short > 0 && !slices.Contains(lengths, short) {
		lengths = append([]time.Duration{short}, lengths...)
	}
	rows, err := s.drawnRows(lengths, tries)
	if err != nil {
		return nil, err
	}
	came, err := s.rows(lengths)
	if err != nil {
		return nil, err
	}
	rows = append(rows, came...)
	a := &Answer{Engine: s.Engine, State: State(s.Tuned), Start: s.Start, Took: s.Took, Runs: len(s.Runs),
		Thresholds: thresholds, Rows: rows, Needs: s.needs(), Whole: s.Start / s.scale()}
	wall, trials := 0.0, 0.0
	for _, r := range s.Runs {
		a.Blocks += len(r.Blocks)
		a.Values += len(pooled(r.Rounds, 0))
		a.Failed += r.Failed
		wall, trials = wall+r.Wall, trials+r.Trials
	}
	if wall > 0 {
		a.Trials = trials / wall
	}
	if n := len(s.Runs); n > 1 && !s.Runs[0].Began.IsZero() {
		a.Apart = s.Runs[n-1].Began.Sub(s.Runs[0].Began) / time.Duration(n-1)
	}
	return a, nil
}

// fits is a time of which some windows fit into each run as they came, so that the drawn
// ones can be held against them.
func (s *Stretch) fits() time.Duration {
	const times = 4
	least := math.Inf(1)
	for _, r := range s.Runs {
		least = min(least, sum(costs(r.Blocks, 0, 1)), sum(roundCosts(r.Rounds, 0, 1)))
	}
	if math.IsInf(least, 0) {
		return 0
	}
	return time.Duration(least / times).Truncate(100 * time.Millisecond)
}

func writeJSON(w io.Writer, all []*Answer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(all)
}

func percent(x float64) string { return fmt.Sprintf("%.3g %%", 100*x) }

func (s Share) String() string {
	if s.N == 0 {
		return ""
	}
	return fmt.Sprintf("%.0f [%.0f, %.0f]", 100*float64(s.Hit)/float64(s.N), 100*s.Lo, 100*s.Hi)
}

// writeText prints the tables.
func writeText(w io.Writer, all []*Answer) error {
	for _, a := range all {
		fmt.Fprintf(w, "%s, machine %s: a start takes %.2f ms, the whole process %.2f; in %s, %d runs: %d blocks by Plimsoll (%.0f %% of the time was trials), %d runs of each program by hyperfine; %d failed.\n",
			a.Engine, a.State, a.Start/1e6, a.Whole/1e6, a.Took.Round(time.Second), a.Runs, a.Blocks, 100*a.Trials, a.Values, a.Failed)
		if a.Apart > 0 {
			fmt.Fprintf(w, "Each run began %s after the one before.\n", a.Apart.Round(time.Second))
		}
		for _, drawn := range []bool{true, false} {
			a.rows(w, "inside one run", drawn, func(r Row) bool { return !r.Between })
			a.rows(w, "between two runs", drawn, func(r Row) bool { return r.Between && r.Earlier == 0 })
			a.rows(w, "between two runs, by earlier ones", drawn, func(r Row) bool { return r.Earlier > 0 })
		}
		if len(a.Needs) > 0 {
			a.needs(w)
		}
		fmt.Fprintln(w)
	}
	_, err := fmt.Fprint(w, legend)
	return err
}

// rows prints the table of one kind, where it has any.
func (a *Answer) rows(w io.Writer, where string, drawn bool, kind func(Row) bool) {
	rows := lists.Filter(a.Rows, func(r Row) bool {
		return r.Drawn == drawn && kind(r) && r.Ours.Tries+r.Theirs.Tries > 0
	})
	if len(rows) == 0 {
		return
	}
	where += map[bool]string{true: ", drawn", false: ", as it came"}[drawn]
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "\n%s\tours\t\t", where)
	for range a.Thresholds {
		fmt.Fprint(t, "\t")
	}
	fmt.Fprint(t, "\t\thyperfine + benchstat\nchange\tafter\tblocks\ttries")
	for _, l := range a.Thresholds {
		fmt.Fprintf(t, "\tgate at %s fails", percent(l))
	}
	fmt.Fprint(t, "\tfinds\tp < 5 %\truns\ttries\tp < 5 %")
	for _, l := range a.Thresholds {
		fmt.Fprintf(t, "\tbeyond %s", percent(l))
	}
	fmt.Fprintln(t)
	for _, r := range rows {
		fmt.Fprintf(t, "%s\t%s\t%s", percent(r.Change), r.Length, counts(r.Ours))
		for _, s := range r.Ours.Beyond {
			fmt.Fprintf(t, "\t%s", s)
		}
		finds := ""
		if n := len(r.Ours.Finds); n > 0 {
			finds = percent(r.Ours.Finds[n-1])
		}
		fmt.Fprintf(t, "\t%s\t%s\t%s\t%s", finds, r.Ours.Told, counts(r.Theirs), r.Theirs.Told)
		for _, s := range r.Theirs.Beyond {
			fmt.Fprintf(t, "\t%s", s)
		}
		fmt.Fprintln(t)
	}
	_ = t.Flush() // its writer tells at the end
}

func counts(f Found) string {
	if f.Tries == 0 {
		return "\t0"
	}
	if f.Apart == 0 {
		return fmt.Sprintf("%d\t%d", f.Values, f.Tries)
	}
	return fmt.Sprintf("%d\t%d (%d)", f.Values, f.Tries, f.Apart)
}

func (a *Answer) needs(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "\nfound in nine of ten\tby ours\tby hyperfine\tours takes\thyperfine takes\tours / hyperfine\ta gate at half of it takes")
	for _, n := range a.Needs {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%.2f [%.2f, %.2f]\t%s\n", percent(n.Change), percent(n.Ours), percent(n.Theirs), seconds(n.OurTime), seconds(n.TheirTime), n.Ratio, n.Lo, n.Hi, seconds(n.Gate))
	}
	_ = t.Flush()
}

func seconds(ns float64) string {
	if s := ns / 1e9; s < 9.95 {
		return fmt.Sprintf("%.1f s", s)
	}
	return fmt.Sprintf("%.0f s", math.Round(ns/1e9))
}

// legend explains the columns.
const legend = `drawn: a window is put together of stretches of the run, drawn with replacement, each as many whole blocks in a row
as the root of their number; the change in it is set to what was meant. Inside one run the intervals (95 %) reach as
far as the scatter that was measured is uncertain; between two runs they are Wilson's, of as many tries as there are
runs, less one (in parentheses).
by earlier ones: the other runs tell how much runs scatter.
as it came: windows of the run, with what the change came to; the shortest time is one of which some fit. They overlap,
each begins a quarter of its length after the one before; the intervals are Wilson's, of as many tries as have nothing
in common (in parentheses).
after: what the two environments took with all between their trials, between two runs what NEW and its baselines did.
gate: our gate with a budget of that time. finds: the worsening that it says it finds in nine of ten, at the last threshold.
p < 5 %: the two are told apart, by signed ranks of pairs or as two runs are compared; by benchstat (Mann-Whitney).
beyond: benchstat's test against BASE times the threshold, which is of the start and less of the whole process, one-sided 2.5 %.
found in nine of ten: p < 5 %, by how the estimates of windows scatter, and by the change that was put in, unless all
changes together came to more or to less for certain. by ours, by hyperfine: what each of them came to.
`
