package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"time"

	"plimsoll/internal/common/safepath"
	"plimsoll/internal/measure/child"
	"plimsoll/internal/measure/collect"
	"plimsoll/internal/measure/collect/collecttest"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/catalogue"
	"plimsoll/internal/measure/probe"
)

// What sampling costs: our CPU time over the wall time, for containers that
// sleep. The goals are shares of one processor.
const (
	collectCount              = 100
	collectFor                = 5 * time.Second
	collectTimes              = 7
	goalMany, goalOne         = 0.02, 0.01
	manyInterval, oneInterval = 100 * time.Millisecond, 10 * time.Millisecond
)

// collectors prints what sampling costs: of payloads of our own, and then of
// the containers of the engines, or of what is named. A number among the names
// is how many containers, which only a trial of the program itself needs.
func collectors(ctx context.Context, only ...string) (err error) {
	count := collectCount
	only = slices.DeleteFunc(slices.Clone(only), func(s string) bool {
		n, err := strconv.Atoi(s)
		if err == nil {
			count = n
		}
		return err == nil
	})
	dir, err := os.MkdirTemp("/var/tmp", "plimsoll-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, safepath.RemoveAll(dir)) }()
	path, err := probe.Extract(dir)
	if err != nil {
		return err
	}
	missed := 0
	if wanted(only, "payloads") {
		if missed, err = costOfPayloads(ctx, path); err != nil {
			return err
		}
	}
	fmt.Printf("(b) beside the engines' own, for %d containers that sleep\n", count)
	for _, e := range []statsEngine{{name: "docker", count: count, sockets: []string{"/var/run/docker.sock"}}, {
		name: "podman", count: count, global: []string{"--cgroup-manager=cgroupfs"}, runArgs: []string{"--ulimit", "nofile=1024:1024", "--ulimit", "nproc=32768:32768"}, // more than ours would need a capability
	}} {
		if !wanted(only, e.name) {
			continue
		}
		if err := e.bench(ctx, dir, path); err != nil {
			fmt.Printf("    %s is left out: %v\n", e.name, err)
		}
	}
	if missed > 0 {
		return fmt.Errorf("%d of the costs are beyond the goal", missed)
	}
	return nil
}

func wanted(only []string, name string) bool { return len(only) == 0 || slices.Contains(only, name) }

// costOfPayloads prints the two costs that have a goal and counts those beyond.
func costOfPayloads(ctx context.Context, path string) (missed int, err error) {
	subjects, undo, err := sleepers(ctx, path, collectCount)
	defer undo()
	if err != nil {
		return 0, err
	}
	fmt.Printf("(a) %d payloads with control groups and network namespaces of their own, on %d processors\n", collectCount, runtime.NumCPU())
	for _, c := range []struct {
		name     string
		subjects []collect.Subject
		interval time.Duration
		goal     float64
	}{
		{"100 containers, 10 Hz", subjects, manyInterval, goalMany},
		{"one container, 100 Hz", subjects[:1], oneInterval, goalOne},
	} {
		// A virtual processor's speed changes from one second to the next.
		costs := make([]share, collectTimes)
		for i := range costs {
			if costs[i], err = sampling(ctx, c.subjects, c.interval, collectFor); err != nil {
				return missed, err
			}
		}
		slices.SortFunc(costs, func(a, b share) int { return cmp.Compare(a.process, b.process) })
		cost := costs[collectTimes/2]
		fmt.Printf("    %-24s %s  (at most %.0f %%; the median of %d, %.2f to %.2f %%)\n",
			c.name, cost, c.goal*100, collectTimes, 100*costs[0].process, 100*costs[collectTimes-1].process)
		if cost.process > c.goal {
			missed++
		}
	}
	before := usage()
	f, err := collect.TakeFootprint(ctx, engine.AllProcesses(catalogue.All()), subjects)
	if err != nil {
		return missed, err
	}
	fmt.Printf("    %-24s %5.0f ms, of which CPU time %.0f ms; PSS of %d processes known: %v\n", "one look at all of them",
		float64(f.Took)/1e6, (usage()-before).Seconds()*1e3, f.Payloads.Processes, f.Payloads.PSS.OK())
	return missed, nil
}

// sleepers starts payloads that stay.
func sleepers(ctx context.Context, path string, n int) (subjects []collect.Subject, undo func(), err error) {
	var undos []func()
	undo = func() {
		for _, f := range slices.Backward(undos) {
			f()
		}
	}
	for i := range n {
		g, err := collecttest.New(fmt.Sprintf("plimsoll-bench-%d-%d", os.Getpid(), i))
		if err != nil {
			return nil, undo, err
		}
		undos = append(undos, func() {
			if err := g.Remove(); err != nil {
				fmt.Fprintln(os.Stderr, "left behind:", err)
			}
		})
		cmd, err := child.Start(ctx, child.Command{Argv: []string{path, "payload", fmt.Sprintf("bench%d", i), "--stay"},
			Attr: &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET | syscall.CLONE_NEWPID, Pdeathsig: syscall.SIGKILL}})
		if err != nil {
			return nil, undo, err
		}
		undos = append(undos, cmd.End)
		if err := g.Add(cmd.PID); err != nil {
			return nil, undo, err
		}
		subjects = append(subjects, collect.Subject{PIDs: []int{cmd.PID}})
	}
	return subjects, undo, nil
}

// share is CPU time over wall time.
type share struct {
	thread, process float64 // of the sampling thread, of our whole process
	missed          int64
}

func (s share) String() string {
	return fmt.Sprintf("%5.2f %% of a processor, its thread %5.2f %%, %d samples missed", s.process*100, s.thread*100, s.missed)
}

// sampling watches the subjects for a while.
func sampling(ctx context.Context, subjects []collect.Subject, every, length time.Duration) (s share, err error) {
	c, err := collect.New(collect.Options{Interval: every, Processes: engine.AllProcesses(catalogue.All())})
	if err != nil {
		return share{}, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	watches := make([]*collect.Watch, len(subjects))
	for i, s := range subjects {
		watches[i] = c.Watch(s)
	}
	if err := wait(ctx, 2*time.Second); err != nil { // the first looks at each memory map
		return share{}, err
	}
	one := c.Watch(collect.Subject{Parts: []collect.Part{collect.Own}})
	before, at := usage(), time.Now()
	if err := wait(ctx, length); err != nil {
		return share{}, err
	}
	wall, cpu := time.Since(at).Seconds(), (usage() - before).Seconds()
	own := one.End(0)
	s = share{process: cpu / wall, thread: own.Values()["own-cpu"] / 1e9 / wall, missed: own.Tail.Missed}
	for i, w := range watches {
		series := w.End(0)
		if got := len(series.Rows); float64(got) < 0.9*length.Seconds()/every.Seconds() {
			return s, fmt.Errorf("the watch of container %d has %d samples: too few", i, got)
		}
		at, _ := series.Curve("payload-cpu")
		if len(at) < len(series.Rows)-2 {
			return s, fmt.Errorf("the watch of container %d has %d samples of its CPU time in %d rows (%v)", i, len(at), len(series.Rows), series.Tail)
		}
	}
	return s, nil
}

// copyProbe puts the probe where an image is made from.
func copyProbe(path, dir string) (string, error) {
	root := filepath.Join(dir, "image")
	if err := os.MkdirAll(root, 0o755); err != nil {
		return "", err
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	return root, os.WriteFile(filepath.Join(root, probe.FileName), b, 0o755)
}
