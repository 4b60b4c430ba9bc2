// Package aa counts how often engines are told from themselves on a real machine.
package aa

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/common/safepath"
	"plimsoll/internal/measure/child"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/evaluate"
)

// aaOptions say for how long, and in which states of the machine, engines are
// measured beside themselves.
type aaOptions struct {
	plimsoll, study string
	minutes         float64
	runs            int
	states          []bool // tuned or not, in turns
	add             string // a file of earlier counts, to which these are added
	keep            string // a directory in which the records stay
	read            bool   // nothing is measured: the records in keep are judged again
}

func aaArgs(args []string) (o aaOptions, err error) {
	f := flag.NewFlagSet("bench aa", flag.ContinueOnError)
	f.Float64Var(&o.minutes, "minutes", 20, "in all")
	f.IntVar(&o.runs, "runs", 8, "into how many runs these are divided")
	tuned := f.String("tuned", "both", "the machine's state: yes, no, or both in turns")
	f.StringVar(&o.add, "add", "", "a `FILE` of counts: begin with those, and write the sum into it")
	f.StringVar(&o.keep, "keep", "", "a `DIR`, new, in which the records stay")
	read := f.String("read", "", "a `DIR` of an earlier -keep: measure nothing, judge its records again")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if *read != "" {
		o.keep, o.read = *read, true
		return o, nil
	}
	switch *tuned {
	case "yes", "no":
		o.states = []bool{*tuned == "yes"}
	case "both":
		o.states = []bool{false, true}
	default:
		return o, fmt.Errorf("-tuned: %q is none of yes, no and both", *tuned)
	}
	if f.NArg() != 2 || o.runs < 1 || o.minutes <= 0 {
		return o, errors.New("bench aa [-minutes M] [-runs R] [-tuned yes|no|both] [-add FILE] [-keep DIR] PLIMSOLL STUDY, or bench aa -read DIR")
	}
	o.plimsoll, o.study = f.Arg(0), f.Arg(1)
	return o, nil
}

// Bench runs a study in which environments stand twice (as: [a, b]) several times,
// makes a record of its own of each so many blocks, and counts how often the two of
// one record are told apart, and how often an environment is from itself in a record
// of the next run. It goes through the program as a user does: what is tested is the
// whole of it, on this machine. An interrupt ends it; what there is then is counted.
func Bench(ctx context.Context, args ...string) (err error) {
	o, err := aaArgs(args)
	if err != nil {
		return err
	}
	dir, whole, err := aaDir(&o)
	defer func() { err = errors.Join(err, safepath.RemoveAll(dir)) }()
	if err != nil {
		return err
	}
	begin := time.Now()
	found := &aaTable{}
	if o.add != "" {
		if err := found.add(o.add); err != nil {
			return err
		}
	}
	last := map[bool][]*analyze.Result{} // the parts of the last run in a state
	for n := range o.runs {
		if ctx.Err() != nil {
			break
		}
		tuned := o.states[n%len(o.states)]
		run := filepath.Join(whole, fmt.Sprintf("run-%d", n))
		if !o.read {
			if err := runAA(ctx, o, run, tuned, (time.Duration(o.minutes*float64(time.Minute))-time.Since(begin))/time.Duration(o.runs-n)); err != nil {
				return err
			}
		}
		r, err := record.Open(run)
		if err != nil {
			return err
		}
		if o.read {
			tuned = r.Run().Protocol.Tuned
		}
		parts, err := split(r, filepath.Join(dir, filepath.Base(run)+"-part"), blocksAA)
		if err != nil {
			return err
		}
		var results []*analyze.Result
		for _, part := range parts {
			r, err := record.Open(part)
			if err != nil {
				return err
			}
			res, err := evaluate.Run(r, evaluate.Options{})
			if err != nil {
				return err
			}
			results = append(results, res)
		}
		if err := found.inside(results, tuned); err != nil {
			return err
		}
		if before, ok := last[tuned]; ok {
			if err := found.between(before, results, tuned); err != nil {
				return err
			}
			delete(last, tuned) // so that no part is compared twice
		} else {
			last[tuned] = results
		}
		fmt.Fprintf(os.Stderr, "run %d of %d: %d parts\n", n+1, o.runs, len(parts))
	}
	if o.add != "" {
		if err := found.keep(o.add); err != nil {
			return err
		}
	}
	found.print(os.Stdout)
	fmt.Printf("Took %.0f s.\n", time.Since(begin).Seconds())
	return nil
}

// aaDir makes the directory for parts of records, and gives the one for records: the
// same, or the one that is kept, and how many runs that holds.
func aaDir(o *aaOptions) (dir, whole string, err error) {
	dir, err = os.MkdirTemp("/var/tmp", "plimsoll-bench-")
	switch {
	case err != nil || o.keep == "":
		return dir, dir, err
	case !o.read:
		return dir, o.keep, os.Mkdir(o.keep, 0o755)
	}
	for o.runs, o.states = 0, []bool{false}; err == nil; o.runs++ {
		_, err = os.Stat(filepath.Join(o.keep, fmt.Sprintf("run-%d", o.runs)))
	}
	o.runs-- // the one that is not there
	if o.runs == 0 {
		err = fmt.Errorf("%s has no run-0: give a directory that bench aa -keep made", o.keep)
	} else {
		err = nil
	}
	return dir, o.keep, err
}

// blocksAA is the number of blocks of one comparison.
const blocksAA = 12

// mostAA is more blocks than fit.
const mostAA = 100000

// The statuses of a run that ended early or had failures.
const statusSomeFailed, statusInterrupted = 6, 130

func runAA(ctx context.Context, o aaOptions, dir string, tuned bool, budget time.Duration) error {
	argv := []string{o.plimsoll, "run", o.study, "-o", dir, "--wait", "--progress", "none", "--blocks", strconv.Itoa(mostAA),
		"--time-budget", max(budget, time.Second).Round(time.Second).String()}
	if tuned {
		argv = append(argv, "--tuned")
	}
	// A run that is asked to end cleans up; a killed one leaves its containers.
	out, err := child.Run(ctx, child.Command{Together: true, Grace: time.Minute, Argv: argv})
	exit, ok := errors.AsType[*exec.ExitError](err)
	if err == nil || ok && (exit.ExitCode() == statusSomeFailed || exit.ExitCode() == statusInterrupted) || errors.Is(err, context.Canceled) {
		return nil
	}
	return fmt.Errorf("running %s: %w: %s", o.study, err, strings.TrimSpace(string(out.Stdout)))
}

// split makes a record of each so many counted blocks, at into-0, into-1 … What is
// left over is left out.
func split(r *record.Reader, into string, blocks int) ([]string, error) {
	full := *r.Run()
	warmup := full.Protocol.Warmup
	full.Protocol.Blocks, full.Protocol.Warmup, full.Status = blocks, 0, "done"
	full.Protocol.TimeBudgetNS, full.Looks = 0, nil
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
			dir := fmt.Sprintf("%s-%d", into, len(dirs))
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
	complete := (ended+1)%blocks == 0 && r.Run().Status == "done"
	if !complete && ended/blocks == len(dirs)-1 {
		dirs = dirs[:len(dirs)-1] // the last part may be short
	}
	return dirs, w.Close()
}
