package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/common/safepath"
	"plimsoll/internal/measure/child"
	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/analyze/compare"
	"plimsoll/internal/understand/analyze/evaluate"
)

// What a viewer may cost of one processor.
const serveGoal = 0.01

// perSecond is how many trials a second the run has that is followed: about as
// many as the fastest engines give.
const perSecond = 20

// slice is for how long a viewer looks, or does not.
const slice = 3 * time.Second

// servePages shows what a viewer of `plimsoll serve` costs: the server's share
// of a processor while a run is followed, and whether medians of a real run
// change when somebody looks.
func servePages(ctx context.Context, args ...string) (err error) {
	if len(args) != 2 {
		return errors.New("bench serve PLIMSOLL TIME")
	}
	whole, err := time.ParseDuration(args[1])
	if err != nil || whole < 4*slice {
		return fmt.Errorf("%q is no time of at least %s", args[1], 4*slice)
	}
	dir, err := os.MkdirTemp("/var/tmp", "plimsoll-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, safepath.RemoveAll(dir)) }()
	if err := serveCost(ctx, args[0], dir, whole); err != nil {
		return err
	}
	return serveAA(ctx, args[0], dir, whole)
}

// serveCost follows a run that a writer makes at a steady pace.
func serveCost(ctx context.Context, plimsoll, dir string, whole time.Duration) error {
	folder := filepath.Join(dir, "cost")
	s := recordtest.Typical()
	s.Blocks = 1_000_000
	r := s.Run()
	r.Status, r.Finished = "running", time.Time{}
	w, err := record.Create(filepath.Join(folder, "live"), r)
	if err != nil {
		return err
	}
	defer func() { _ = w.Close() }() // it is removed with all that is in it
	at, err := startServe(ctx, plimsoll, folder)
	if err != nil {
		return err
	}
	defer at.stop()
	watching, end := context.WithTimeout(ctx, whole)
	defer end()
	var saw viewing
	ended := make(chan error, 1)
	before := at.cpu()
	go func() { ended <- at.look(watching, &saw) }()
	pace := time.NewTicker(time.Second / perSecond)
	defer pace.Stop()
	written := 0
	for t := range s.Trials() {
		select {
		case <-watching.Done():
		case <-pace.C:
		}
		if watching.Err() != nil {
			break
		}
		t.At = time.Now()
		if err := w.Append(t); err != nil {
			return err
		}
		written++
	}
	if err := <-ended; err != nil {
		return err
	}
	cpu := at.cpu() - before
	seen := saw.done.Load()
	fmt.Printf("a run of %d trials in %s, followed by one viewer: %d events, the charts' data %d times, %d trials seen\n", written, whole, saw.events.Load(), saw.data.Load(), seen)
	// On a busy machine it comes late, since it only takes what is left.
	if seen < int64(written)/2 {
		return errors.New("the viewer saw less than half of the run: what it cost says nothing")
	}
	share := cpu.Seconds() / whole.Seconds()
	verdict := "met"
	if share >= serveGoal {
		verdict = "missed"
	}
	fmt.Printf("the server's share of one processor  %6.3f %%  (goal: under %.0f %%: %s)\n", 100*share, 100*serveGoal, verdict)
	fmt.Printf("the server's peak resident memory    %6.1f MiB\n", at.memory())
	return nil
}

const aaStudy = "plimsoll: 1\nname: viewed\nprotocol: {blocks: 100000, warmup: 1}\nworkloads: [hello]\nenvironments:\n  - {engine: native}\n  - {engine: floor}\n"

// serveAA measures native and floor, and looks at the run in every other slice
// of time, by chance in the first or the second of two. Trials are held against
// those of the slice beside it.
func serveAA(ctx context.Context, plimsoll, dir string, whole time.Duration) error {
	study, folder := filepath.Join(dir, "viewed.yaml"), filepath.Join(dir, "aa")
	if err := errors.Join(os.WriteFile(study, []byte(aaStudy), 0o644), os.Mkdir(folder, 0o755)); err != nil {
		return err
	}
	at, err := startServe(ctx, plimsoll, folder)
	if err != nil {
		return err
	}
	defer at.stop()
	live := filepath.Join(folder, "live")
	run, err := child.Start(ctx, child.Command{Together: true, Grace: time.Minute,
		Argv: []string{plimsoll, "run", study, "-o", live, "--wait", "--progress", "none", "--time-budget", (whole + slice).String()}})
	if err != nil {
		return err
	}
	for i := 0; ; i++ {
		if info, err := os.Stat(filepath.Join(live, record.TrialsFile)); err == nil && info.Size() > 0 {
			break
		}
		select {
		case <-run.Ended():
			return endedEarly(run)
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
		if i == 50 {
			fmt.Println("\nwaiting for another measurement on this machine to end")
		}
	}
	begin := time.Now()
	rng := rand.New(rand.NewPCG(1, uint64(begin.UnixNano())))
	var looked []bool
	var saw viewing
	for len(looked) < int(whole/slice)/2*2 {
		if len(looked)%2 == 0 {
			first := rng.IntN(2) == 0
			looked = append(looked, first, !first)
		}
		for _, on := range looked[len(looked)-2:] {
			look, end := context.WithTimeout(ctx, slice)
			if on {
				err = at.look(look, &saw)
			} else {
				<-look.Done()
			}
			end()
			if err != nil || ctx.Err() != nil {
				return errors.Join(err, ctx.Err())
			}
		}
	}
	if _, err := run.Wait(); err != nil {
		return endedEarly(run)
	}
	if saw.events.Load() == 0 {
		return errors.New("nobody saw the run: it says nothing")
	}
	return tellViewed(live, begin, looked)
}

// endedEarly says how a run ended that should have gone on.
func endedEarly(run *child.Process) error {
	out, err := run.Wait()
	if err == nil {
		err = errors.New("it ended before it had measured anything")
	}
	return fmt.Errorf("measuring native and floor: %w: %s", err, strings.TrimSpace(string(out.Stdout)))
}

// tellViewed compares the trials that were looked at with the others.
func tellViewed(dir string, begin time.Time, looked []bool) error {
	r, err := record.Open(dir)
	if err != nil {
		return err
	}
	run := *r.Run()
	envs := run.Environments
	run.Environments, run.Status, run.Looks = nil, "done", nil
	for _, e := range envs {
		for _, side := range []string{"@without", "@with"} {
			other := e
			other.ID += side
			run.Environments = append(run.Environments, other)
		}
	}
	run.Protocol.Warmup, run.Protocol.Blocks, run.Protocol.Until, run.Protocol.TimeBudgetNS = 0, len(looked)/2, 0, 0
	var trials []record.Trial
	for t, err := range r.Trials() {
		if err != nil {
			return err
		}
		i := int(t.At.Sub(begin) / slice)
		if t.At.Before(begin) || i >= len(looked) {
			continue
		}
		c := *t
		c.Seq, c.Block, c.Warmup, c.Inside, c.Samples, c.Output = len(trials), i/2, false, "", nil, ""
		c.Events, c.Values = maps.Clone(t.Events), maps.Clone(t.Values)
		c.Env += map[bool]string{true: "@with", false: "@without"}[looked[i]]
		trials = append(trials, c)
	}
	res, err := evaluate.Run(record.InMemory(&run, trials), evaluate.Options{})
	if err != nil {
		return err
	}
	fmt.Printf("\nnative and floor, %d trials in %d pairs of %s with and without a viewer:\n", len(trials), len(looked)/2, slice)
	fmt.Printf("%-12s %-14s %14s %14s  %-26s %s\n", "environment", "metric", "without, µs", "with, µs", "with over without", "compare says")
	for _, e := range envs {
		if e.Baseline != "native" && e.Baseline != "floor" {
			continue
		}
		c, err := compare.Within(res, e.ID+"@without", e.ID+"@with", compare.Options{})
		if err != nil {
			return err
		}
		for i := range c.Cells {
			x := &c.Cells[i]
			if x.Ratio == nil || !slices.Contains([]string{"startup", "whole"}, x.Metric.ID) {
				continue
			}
			interval := ""
			if x.Ratio.Lo != nil {
				interval = fmt.Sprintf("[%.3f, %.3f]", *x.Ratio.Lo, *x.Ratio.Hi)
			}
			fmt.Printf("%-12s %-14s %14.1f %14.1f  %.4f %-19s %s\n", e.ID, x.Metric.ID, x.Base.Value/1e3, x.New.Value/1e3, x.Ratio.Value, interval, x.Verdict)
		}
	}
	return nil
}
