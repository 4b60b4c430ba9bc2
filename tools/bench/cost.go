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

	"golang.org/x/sys/unix"

	"plimsoll/internal/common/safepath"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/baseline"
	"plimsoll/internal/measure/host/proc"
	"plimsoll/internal/measure/run"
	"plimsoll/internal/measure/study"
	"plimsoll/internal/record"
	"plimsoll/tools/bench/sharp/measured"
)

// nullTrials is how many trials of the null engine are carried out: each a
// real process, started, answered, recorded.
const nullTrials = 100_000

// cost prints our own CPU time and memory for each trial of a payload that is
// started by the launcher with no engine at all.
func cost(ctx context.Context, _ ...string) (err error) {
	dir, err := os.MkdirTemp("/var/tmp", "plimsoll-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, safepath.RemoveAll(dir)) }()
	engines := []engine.Engine{baseline.Host{}}
	plan, err := measured.PlanOf(fmt.Sprintf("plimsoll: 1\nname: cost\nprotocol: {blocks: %d, warmup: 0}\nworkloads: [hello]\nenvironments:\n  - {engine: host}\n", nullTrials), engines)
	if err != nil {
		return err
	}
	finish := make(chan struct{})
	before, at := usage(), time.Now()
	sum, err := run.Execute(ctx, run.Options{
		Run: &record.Run{}, Plan: plan, Dir: filepath.Join(dir, "run"), Engines: engines,
		State: run.State{Dir: filepath.Join(dir, "state")}, Root: os.Geteuid() == 0,
		Getenv: os.Getenv, LookPath: exec.LookPath, Progress: run.NoProgress{}, Finish: finish,
		Settle: time.Microsecond, // the waiting costs next to no CPU time, and 100 000 times a millisecond are long
	})
	if err != nil {
		return err
	}
	if sum.Failed+sum.Unsupported > 0 || sum.Trials == 0 {
		return fmt.Errorf("%d of %d trials failed", sum.Failed+sum.Unsupported, sum.Trials)
	}
	cpu := usage() - before
	peak, err := peakMemory()
	if err != nil {
		return err
	}
	n := float64(sum.Trials)
	fmt.Printf("%d null trials in %.0f s\n", sum.Trials, time.Since(at).Seconds())
	fmt.Printf("our own CPU time a trial   %8.3f ms  (at most 2 ms)\n", cpu.Seconds()*1e3/n)
	fmt.Printf("our peak resident memory   %8.1f MiB (at most 64 MiB)\n", float64(peak)/(1<<20))
	return recordCost(filepath.Join(dir, "append"), plan)
}

// recordCost times the writing of trial records.
func recordCost(dir string, plan *study.Plan) error {
	r := &record.Run{ID: "bench000"}
	plan.Record(r)
	w, err := record.Create(dir, r)
	if err != nil {
		return err
	}
	const n = 20_000
	begin := time.Now()
	for seq := range n {
		err := w.Append(&record.Trial{
			Seq: seq, Env: "host", Workload: "hello", At: begin, Clock: record.ClockShared, Inside: "0123456789abcdef",
			Events: map[record.Event]int64{record.Request: 1, record.First: 2, record.Ready: 3, record.Done: 4, record.Exit: 5, record.Removed: 6},
			Host:   &record.Disturbance{CPUPressureNS: 1000},
		})
		if err != nil {
			return err
		}
	}
	took := time.Since(begin)
	fmt.Printf("writing a trial's record   %8.4f ms (at most 0.2 ms)\n", took.Seconds()*1e3/n)
	return w.Close()
}

// usage is the CPU time of this process, without its children's.
func usage() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// peakMemory is the high-water mark of this process's resident memory, in bytes.
func peakMemory() (int64, error) {
	status, err := proc.Here.Status(proc.Self)
	if err != nil {
		return 0, err
	}
	kib, err := strconv.ParseInt(strings.TrimSuffix(status["VmHWM"], " kB"), 10, 64)
	return kib << 10, err
}
