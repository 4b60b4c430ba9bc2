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

	"plimsoll/internal/measure/child"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/compare"
	"plimsoll/internal/understand/analyze/evaluate"
)

// alarms counts how often one environment was told from itself.
type alarms struct {
	times int
	// interval: the 95 % interval of the ratio of start-up leaves out 1.
	// verdict: it lies outside ±delta. letters: the ranking gives the two no
	// letter in common. compare: `plimsoll compare` calls any metric better or
	// worse.
	interval, verdict, letters, compare int
}

// aa runs a study in which environments stand twice (as: [a, b]) with many
// times its blocks, makes a record of its own of each so many blocks as the
// study has, and counts in how many of these the two are told apart. It goes
// through the program as a user does: what is tested is the whole of it, on
// this machine. An interrupt ends the run; what there is then is counted.
func aa(ctx context.Context, args ...string) error {
	if len(args) != 3 {
		return errors.New("bench aa PLIMSOLL STUDY COMPARISONS")
	}
	times, err := strconv.Atoi(args[2])
	if err != nil || times < 1 {
		return fmt.Errorf("%q is no number of comparisons", args[2])
	}
	dir, err := os.MkdirTemp("/var/tmp", "plimsoll-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	begin := time.Now()
	whole := filepath.Join(dir, "whole")
	if err := runAA(ctx, args[0], args[1], whole, times*blocksAA); err != nil {
		return err
	}
	parts, err := split(whole, dir, blocksAA)
	if err != nil {
		return err
	}
	found := map[string]*alarms{}
	var order []string
	for _, part := range parts {
		r, err := record.Open(part)
		if err != nil {
			return err
		}
		res, err := evaluate.Run(r, evaluate.Options{})
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
	}
	printAlarms(order, found)
	fmt.Printf("Took %.0f s.\n", time.Since(begin).Seconds())
	return nil
}

// blocksAA is the number of blocks of one comparison.
const blocksAA = 12

// The statuses of a run that ended early or had failures.
const statusSomeFailed, statusInterrupted = 6, 130

func runAA(ctx context.Context, plimsoll, study, dir string, blocks int) error {
	// A run that is asked to end cleans up; a killed one leaves its containers.
	out, err := child.Run(ctx, child.Command{Together: true, Grace: time.Minute,
		Argv: []string{plimsoll, "run", study, "-o", dir, "--wait", "--progress", "none", "--blocks", strconv.Itoa(blocks)}})
	var exit *exec.ExitError
	if errors.As(err, &exit) && (exit.ExitCode() == statusSomeFailed || exit.ExitCode() == statusInterrupted) || errors.Is(err, context.Canceled) {
		err = nil
	}
	if err != nil {
		return fmt.Errorf("running %s: %w: %s", study, err, strings.TrimSpace(string(out.Stdout)))
	}
	return nil
}

// split makes a record of each so many counted blocks. What is left over is
// left out.
func split(whole, into string, blocks int) ([]string, error) {
	r, err := record.Open(whole)
	if err != nil {
		return nil, err
	}
	full := *r.Run()
	warmup := full.Protocol.Warmup
	full.Protocol.Blocks, full.Protocol.Warmup, full.Status = blocks, 0, "done"
	var dirs []string
	var w *record.Writer
	ended := -1 // the last block that is whole
	for t, err := range r.Trials() {
		if err != nil {
			return nil, err
		}
		if t.Warmup {
			continue
		}
		block := t.Block - warmup
		if w == nil || block/blocks == len(dirs) {
			if w != nil {
				if err := w.Close(); err != nil {
					return nil, err
				}
			}
			dir := filepath.Join(into, fmt.Sprintf("part-%d", len(dirs)))
			if w, err = record.Create(dir, &full); err != nil {
				return nil, err
			}
			dirs = append(dirs, dir)
		}
		ended = block
		t.Block, t.Inside, t.Output, t.Samples = block%blocks, "", "", nil
		if err := w.Append(t); err != nil {
			return nil, err
		}
	}
	if w == nil {
		return nil, nil
	}
	if r.Run().Status != "done" && ended/blocks == len(dirs)-1 {
		dirs = dirs[:len(dirs)-1] // the last part may be short
	}
	return dirs, w.Close()
}

// count looks at one pair of one run.
func (f *alarms) count(res *analyze.Result, a, b string) error {
	c, err := compare.Within(res, a, b, compare.Options{})
	if err != nil {
		return err
	}
	f.times++
	for i := range c.Cells {
		if v := c.Cells[i].Verdict; v == compare.Better || v == compare.Worse {
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
		fmt.Printf("%-32s %5d %10d %10d %10d %10d\n", name, f.times, f.interval, f.verdict, f.letters, f.compare)
	}
	fmt.Printf("told from itself, in so many of the comparisons of %d blocks:\n%-32s %5s %10s %10s %10s %10s\n", blocksAA, "environment", "all", "interval", "verdict", "letters", "compare")
	for _, name := range order {
		f := found[name]
		line(name, f)
		all.times, all.interval, all.verdict = all.times+f.times, all.interval+f.interval, all.verdict+f.verdict
		all.letters, all.compare = all.letters+f.letters, all.compare+f.compare
	}
	line("all", &all)
	fmt.Println("interval: the 95 % interval of the ratio of start-up leaves out 1. verdict: it lies outside ±1 %.\nletters: the ranking gives the two no letter in common. compare: plimsoll compare calls a metric better or worse.")
	if all.times > 0 {
		chance, most := distuv.Binomial{N: float64(all.times), P: 0.05}, 0
		for chance.CDF(float64(most)) < 0.95 {
			most++
		}
		fmt.Printf("A rate of 5 %% gives %.1f of %d on average, and in 19 of 20 cases at most %d.\n", chance.Mean(), all.times, most)
	}
}
