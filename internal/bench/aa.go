package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"plimsoll/internal/analyze"
	"plimsoll/internal/record"
)

// alarms counts how often one environment was told from itself.
type alarms struct {
	runs int
	// interval: the 95 % interval of the ratio of start-up leaves out 1.
	// verdict: it lies outside ±delta. letters: the ranking gives the two no
	// letter in common. compare: `plimsoll compare` calls any metric better or
	// worse.
	interval, verdict, letters, compare int
}

// aa runs a study in which environments stand twice (as: [a, b]), many times
// over, and counts how often the two are told apart. It goes through the
// program as a user does: what is tested is the whole of it, on this machine.
func aa(ctx context.Context, args ...string) error {
	if len(args) != 3 {
		return errors.New("bench aa PLIMSOLL STUDY RUNS")
	}
	runs, err := strconv.Atoi(args[2])
	if err != nil || runs < 1 {
		return fmt.Errorf("%q is no number of runs", args[2])
	}
	dir, err := os.MkdirTemp("/var/tmp", "plimsoll-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	begin := time.Now()
	found := map[string]*alarms{}
	var order []string
	for i := range runs {
		res, err := oneAA(ctx, args[0], args[1], filepath.Join(dir, strconv.Itoa(i)))
		if err != nil {
			return err
		}
		for _, e := range res.Environments {
			name, ok := strings.CutSuffix(e.ID, "@a")
			if !ok {
				continue
			}
			if found[name] == nil {
				found[name] = &alarms{}
				order = append(order, name)
			}
			if err := found[name].count(res, e.ID, name+"@b"); err != nil {
				return err
			}
		}
		fmt.Fprintf(os.Stderr, "run %d of %d, %.0f s\n", i+1, runs, time.Since(begin).Seconds())
	}
	printAlarms(order, found)
	fmt.Printf("%d runs in %.0f s\n", runs, time.Since(begin).Seconds())
	return nil
}

// statusSomeFailed is plimsoll's status where some trials failed.
const statusSomeFailed = 6

func oneAA(ctx context.Context, plimsoll, study, dir string) (*analyze.Result, error) {
	out, err := exec.CommandContext(ctx, plimsoll, "run", study, "-o", dir, "--wait", "--progress", "none").CombinedOutput()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != statusSomeFailed) {
		return nil, fmt.Errorf("running %s: %w: %s", study, err, strings.TrimSpace(string(out)))
	}
	r, err := record.Open(dir)
	if err != nil {
		return nil, err
	}
	return analyze.Run(r, analyze.Options{})
}

// count looks at one pair of one run.
func (f *alarms) count(res *analyze.Result, a, b string) error {
	c, err := analyze.Within(res, a, b, analyze.CompareOptions{})
	if err != nil {
		return err
	}
	f.runs++
	for i := range c.Cells {
		if v := c.Cells[i].Verdict; v == analyze.Better || v == analyze.Worse {
			f.compare++
			break
		}
	}
	t := res.Workloads[0].Table("startup")
	for _, p := range t.Pairs {
		if (p.A != a || p.B != b) && (p.A != b || p.B != a) || p.Lo == nil {
			continue
		}
		if *p.Lo > 1 || *p.Hi < 1 {
			f.interval++
		}
		if p.Verdict == analyze.Differs {
			f.verdict++
		}
	}
	if !strings.ContainsAny(t.Cell(a).Group, t.Cell(b).Group) {
		f.letters++
	}
	return nil
}

func printAlarms(order []string, found map[string]*alarms) {
	var all alarms
	line := func(name string, f *alarms) {
		fmt.Printf("%-32s %5d %10d %10d %10d %10d\n", name, f.runs, f.interval, f.verdict, f.letters, f.compare)
	}
	fmt.Printf("told from itself, in so many of the runs:\n%-32s %5s %10s %10s %10s %10s\n", "environment", "runs", "interval", "verdict", "letters", "compare")
	for _, name := range order {
		f := found[name]
		line(name, f)
		all.runs, all.interval, all.verdict = all.runs+f.runs, all.interval+f.interval, all.verdict+f.verdict
		all.letters, all.compare = all.letters+f.letters, all.compare+f.compare
	}
	line("all", &all)
	fmt.Println("interval: the 95 % interval of the ratio of start-up leaves out 1. verdict: it lies outside ±1 %.\nletters: the ranking gives the two no letter in common. compare: plimsoll compare calls a metric better or worse.")
	if all.runs > 0 {
		chance, most := distuv.Binomial{N: float64(all.runs), P: 0.05}, 0
		for chance.CDF(float64(most)) < 0.95 {
			most++
		}
		fmt.Printf("A rate of 5 %% gives %.1f of %d on average, and in 19 of 20 cases at most %d.\n", chance.Mean(), all.runs, most)
	}
}
