package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"plimsoll/internal/measure/child"
	"plimsoll/internal/measure/collect"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/catalogue"
)

// statsEngine is an engine that samples its containers by itself ("stats").
type statsEngine struct {
	name    string
	count   int
	global  []string // arguments for all of its commands
	runArgs []string
	sockets []string
}

// bench watches the engine's containers by our collector, and then by the
// engine's own stream, which comes about once a second.
func (e statsEngine) bench(ctx context.Context, dir, path string) error {
	bin, err := exec.LookPath(e.name)
	if err != nil {
		return errors.New("it is not installed")
	}
	root, err := copyProbe(path, dir)
	if err != nil {
		return err
	}
	// Nobody else has this in a name, so that what bears it may be removed.
	word := adapter.Word()
	tag := "localhost/plimsoll-bench-" + word
	run := func(limit time.Duration, args ...string) (string, error) {
		out, err := child.Run(ctx, child.Command{Argv: slices.Concat([]string{bin}, e.global, args), Limit: limit, Leaves: true})
		if err != nil {
			return "", fmt.Errorf("%s %s: %w: %s", e.name, args[0], err, bytes.TrimSpace(out.Stderr))
		}
		return strings.TrimSpace(string(out.Stdout)), nil
	}
	tar := dir + "/image.tar"
	if out, err := child.Run(ctx, child.Command{Argv: []string{"tar", "-C", root, "-cf", tar, "."}, Limit: time.Minute}); err != nil {
		return fmt.Errorf("tar: %w: %s", err, out.Stderr)
	}
	if _, err := run(time.Minute, "import", tar, tag); err != nil {
		return err
	}
	defer func() {
		ctx = context.WithoutCancel(ctx) // cleaning up goes on after an interruption
		if _, err := run(time.Minute, "rmi", tag); err != nil {
			fmt.Fprintln(os.Stderr, "left behind:", err)
		}
	}()
	names, err := e.start(run, tag, word)
	defer func() {
		ctx = context.WithoutCancel(ctx)
		if _, err := run(5*time.Minute, append([]string{"rm", "-f"}, names...)...); err != nil && len(names) > 0 {
			fmt.Fprintln(os.Stderr, "left behind:", err)
		}
	}()
	if err != nil {
		return err
	}
	pids, err := run(time.Minute, append([]string{"inspect", "--format", "{{.State.Pid}}"}, names...)...)
	if err != nil {
		return err
	}
	var subjects []collect.Subject
	for p := range strings.FieldsSeq(pids) {
		pid, err := strconv.Atoi(p)
		if err != nil {
			return err
		}
		subjects = append(subjects, collect.Subject{PIDs: []int{pid}, Sockets: e.sockets})
	}
	ours, err := sampling(ctx, subjects, manyInterval, collectFor)
	if err != nil {
		return err
	}
	fmt.Printf("    %-10s ours, 10 Hz:  %s\n", e.name, ours)
	return e.theirs(ctx, bin, names)
}

func (e statsEngine) start(run func(time.Duration, ...string) (string, error), tag, word string) (names []string, err error) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	work := make(chan int)
	for range 4 {
		wg.Go(func() {
			for i := range work {
				name := fmt.Sprintf("plimsoll-bench-%s-%d", word, i)
				args := slices.Concat([]string{"run", "-d", "--label", engine.Label + "=" + word, "--name", name}, e.runArgs,
					[]string{tag, "/plimsoll-probe", "payload", fmt.Sprintf("bench%d", i), "--stay"})
				_, failed := run(time.Minute, args...)
				mu.Lock()
				names = append(names, name)
				if err == nil { // one speaks for all
					err = failed
				}
				mu.Unlock()
			}
		})
	}
	for i := range e.count {
		work <- i
	}
	close(work)
	wg.Wait()
	return names, err
}

// theirs runs the engine's own stream for a while: what its client and its
// daemon use meanwhile.
func (e statsEngine) theirs(ctx context.Context, bin string, names []string) (err error) {
	c, err := collect.New(collect.Options{Interval: time.Second, Processes: engine.AllProcesses(catalogue.All())})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	daemon := collect.Subject{Sockets: e.sockets, Parts: []collect.Part{collect.Daemon}}
	if err := c.Know(daemon); err != nil {
		return err
	}
	// What the daemon does for containers that sleep with nobody looking.
	watch := func(do func() error) (float64, float64, error) {
		w, at := c.Watch(daemon), time.Now()
		err := do()
		wall := time.Since(at).Seconds()
		return w.End(0).Values()["daemon-cpu"] / 1e9, wall, err
	}
	idle, idleWall, err := watch(func() error { return wait(ctx, collectFor) })
	if err != nil {
		return err
	}
	var cmd *child.Process
	var out bytes.Buffer
	cpu, wall, err := watch(func() error {
		var err error
		cmd, err = child.Start(ctx, child.Command{Argv: slices.Concat([]string{bin}, e.global, []string{"stats", "--format", "{{.Name}} {{.CPUPerc}}"}, names), Stdout: &out})
		if err != nil {
			return err
		}
		err = wait(ctx, collectFor)
		cmd.End() // it streams on; docker's does not heed SIGTERM
		return err
	})
	if err != nil {
		return err
	}
	if !strings.Contains(out.String(), names[0]+" ") {
		return fmt.Errorf("%s stats did not look at its containers: %.200q", e.name, out.String())
	}
	state := cmd.State()
	if state == nil {
		return fmt.Errorf("%s stats can't be killed", e.name)
	}
	client := (state.UserTime() + state.SystemTime()).Seconds()
	fmt.Printf("    %-10s its stats:    %5.2f %% of a processor: client %.2f %%, daemon %.2f %% more than idle; a look takes it a second or more\n", e.name,
		((client+cpu)/wall-idle/idleWall)*100, client/wall*100, (cpu/wall-idle/idleWall)*100)
	return nil
}

func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
