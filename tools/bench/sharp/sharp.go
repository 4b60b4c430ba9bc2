package sharp

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// options are those of the command line.
type options struct {
	engines  []string
	tuned    string
	minutes  float64
	runs     int
	perRound int
	changes  []float64
	lengths  []time.Duration
	json     bool
	keep     string
	read     string
	tries    int
	check    int
}

// parse reads the options; engines are those whose program can be replaced by a slower one.
func parse(args, engines []string, stderr io.Writer) (o options, err error) {
	f := flag.NewFlagSet("bench sharp", flag.ContinueOnError)
	f.SetOutput(stderr)
	asked := f.String("engines", "crun", "which, of "+strings.Join(engines, ","))
	f.StringVar(&o.tuned, "tuned", "yes", "the machine's state: yes, no or both, one after the other")
	f.Float64Var(&o.minutes, "minutes", 10, "for each engine in each state, opening and all")
	f.IntVar(&o.runs, "runs", 6, "into how many runs these are divided: from six on, four earlier ones tell how they scatter")
	f.IntVar(&o.perRound, "round", 10, "runs of each program in a row by hyperfine")
	changes := f.String("changes", "1,2,5", "by how much programs are slower, per cent of a start")
	lengths := f.String("after", "30s,1m,5m", "after how long a gate decides")
	f.BoolVar(&o.json, "json", false, "for programs")
	f.StringVar(&o.keep, "keep", "", "keep the measured values in this file")
	f.StringVar(&o.read, "read", "", "measure nothing, and judge what this file has")
	f.IntVar(&o.tries, "tries", 100, "how many windows of each change and time are drawn")
	f.IntVar(&o.check, "check", 0, "measure nothing, and tell how right drawn shares are on so many simulated stretches")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	o.engines, o.changes = strings.Split(*asked, ","), []float64{0, 0}
	for _, c := range strings.Split(*changes, ",") {
		x, err := strconv.ParseFloat(c, 64)
		if err != nil || x <= 0 {
			return o, fmt.Errorf("-changes: %q is not a share above 0", c)
		}
		o.changes = append(o.changes, x/100)
	}
	for _, l := range strings.Split(*lengths, ",") {
		d, err := time.ParseDuration(l)
		if err != nil || d <= 0 {
			return o, fmt.Errorf("-after: %q is not a time", l)
		}
		o.lengths = append(o.lengths, d)
	}
	switch {
	case f.NArg() > 0:
		return o, fmt.Errorf("%q is not an option", f.Arg(0))
	case !slices.Contains([]string{"yes", "no", "both"}, o.tuned):
		return o, fmt.Errorf("-tuned: %q is none of yes, no and both", o.tuned)
	case o.minutes <= 0 || o.runs < 1 || o.perRound < 1 || o.tries < 1 || o.check < 0:
		return o, fmt.Errorf("-minutes, -runs, -round, -tries and -check must be above 0")
	}
	return o, nil
}

// Bench measures, judges and prints.
func Bench(ctx context.Context, engines []string, measure Measure, args ...string) error {
	o, err := parse(args, engines, os.Stderr)
	if err != nil {
		return err
	}
	if o.check > 0 {
		return unlessEnded(ctx, func() error { return check(os.Stdout, o.check, o.tries) })
	}
	var all []*Stretch
	if o.read != "" {
		all, err = Load(o.read)
	} else {
		all, err = o.measure(ctx, measure)
	}
	if err != nil {
		return err
	}
	var answers []*Answer
	err = unlessEnded(ctx, func() error {
		for _, s := range all {
			a, err := s.Answer(o.lengths, o.tries)
			if err != nil {
				return err
			}
			answers = append(answers, a)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if o.json {
		return writeJSON(os.Stdout, answers)
	}
	return writeText(os.Stdout, answers)
}

// unlessEnded computes, for minutes it may be, and leaves it as soon as it is asked to:
// there is nothing to clean up then, and the program ends.
func unlessEnded(ctx context.Context, compute func() error) error {
	done := make(chan error, 1)
	go func() { done <- compute() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// measure measures each engine in each state.
func (o options) measure(ctx context.Context, measure Measure) (all []*Stretch, err error) {
	say := func(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }
	for _, name := range o.engines {
		for _, tuned := range []bool{false, true} {
			if o.tuned == "yes" && !tuned || o.tuned == "no" && tuned {
				continue
			}
			s, err := measure(ctx, Task{Engine: name, Changes: o.changes, Tuned: tuned, Runs: o.runs, PerRound: o.perRound, Calibrate: 40,
				Budget: time.Duration(o.minutes * float64(time.Minute)), Say: say})
			if err != nil {
				return nil, err
			}
			all = append(all, s)
			if o.keep == "" {
				continue
			}
			if err := os.MkdirAll(filepath.Dir(o.keep), 0o755); err != nil {
				return nil, err
			}
			if err := Save(o.keep, all); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}
