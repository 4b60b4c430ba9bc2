package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"sync"
	"time"

	"plimsoll/internal/common/stats"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/image"
	"plimsoll/internal/measure/imagestore"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/measure/run"
	"plimsoll/internal/record"
)

// A whole life of a container (create, start, wait for its end, remove), by
// our adapters and by the least that a program can do with the same client:
// same configuration, output attached and read, same removal. The two take
// turns in random order, so that what disturbs the machine falls on both.
const (
	goal = 0.97 // of the bare loop's rate
	// A pair is one turn of each. At once are so many workers, each with a
	// connection of its own; a turn is so many lives of each worker.
	pairsAlone, pairsMany = 100, 24
	many, perWorker       = 8, 2
	lifeLimit             = 30 * time.Second
	memoryLimit           = 256 << 20
)

// driver is one adapter and the bare loop beside it.
type driver struct {
	name   string
	engine engine.Engine
	levels map[string]string
	// bare makes the loop for an environment that is open: what it needs of
	// the adapter are the image and the settings that all containers have.
	bare func(ctx context.Context, kit *engine.Kit, spec engine.Spec) (bare, error)
}

// bare is the least that carries a container through its life.
type bare interface {
	life(ctx context.Context, name string, argv []string) error
	// describe is the configuration of a container that is there, without
	// what differs from one to the next.
	describe(ctx context.Context, name string, argv []string) (string, error)
	// create makes a container only, and remove takes it away.
	create(ctx context.Context, name string, argv []string) error
	remove(ctx context.Context, name string) error
	close() error
}

// learner is a loop whose containers are modelled on one of the adapter's,
// which is running.
type learner interface {
	learn(ctx context.Context, name string) error
}

// allDrivers are the adapters that speak an API.
func allDrivers() []driver { return []driver{dockerDriver(), containerdDriver(), criDriver()} }

func drivers(ctx context.Context, only ...string) error {
	missed := 0
	for _, d := range allDrivers() {
		if len(only) > 0 && !slices.Contains(only, d.name) {
			continue
		}
		n, err := d.bench(ctx)
		missed += n
		switch e := (*engine.Error)(nil); {
		case errors.As(err, &e):
			text, fix := engine.Reason(err)
			fmt.Printf("%-12s left out: %s (%s)\n", d.name, text, fix)
		case err != nil:
			return fmt.Errorf("%s: %w", d.name, err)
		}
	}
	if missed > 0 {
		return fmt.Errorf("%d rates are below %.2f of the bare loop's", missed, goal)
	}
	return nil
}

// bench prints two rows and says how many rates miss the goal for sure.
func (d driver) bench(ctx context.Context) (missed int, err error) {
	kit, done, err := benchKit(ctx, []engine.Engine{d.engine})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, done()) }()
	spec := engine.Spec{ID: "bench", Levels: d.levels, Limits: engine.Limits{CPUs: 1, MemoryBytes: memoryLimit}}
	var envs []engine.Environment
	var loops []bare
	defer func() {
		for _, l := range loops {
			err = errors.Join(err, l.close())
		}
		err = errors.Join(err, engine.CloseAll(context.WithoutCancel(ctx), envs))
	}()
	for range many {
		env, oerr := d.engine.Open(ctx, kit, spec)
		if oerr != nil {
			return 0, oerr
		}
		envs = append(envs, env)
		l, oerr := d.bare(ctx, kit, spec)
		if oerr != nil {
			return 0, oerr
		}
		loops = append(loops, l)
	}
	like, err := equal(ctx, kit, envs[0], loops)
	if err != nil {
		return 0, err
	}
	for _, at := range []struct{ once, pairs, each int }{{1, pairsAlone, 1}, {many, pairsMany, perWorker}} {
		ours, theirs, err := alternate(ctx, kit, like, envs[:at.once], loops[:at.once], at.pairs, at.each)
		if err != nil {
			return missed, err
		}
		if !show(d.name, at.once, at.once*at.each, ours, theirs) {
			missed++
		}
	}
	return missed, nil
}

// turn is what a turn took: by the clock, and of our own CPU time.
type turn struct{ wall, cpu float64 }

// alternate takes pairs of turns.
func alternate(ctx context.Context, kit *engine.Kit, like engine.Thing, envs []engine.Environment, loops []bare, pairs, each int) (ours, theirs []turn, err error) {
	byAdapter := func(worker int, name string, p probe.PayloadArgs) error {
		res, err := envs[worker].Run(ctx, engine.Task{Name: name, Argv: p.Argv(image.ProbePath), Limit: lifeLimit})
		if err != nil {
			return err
		}
		if res.Failure != nil {
			return errors.New(res.Failure.Text)
		}
		if _, err = probe.ParsePayload(res.Stdout, p.Word); err != nil {
			return fmt.Errorf("%w: %q, %q", err, res.Stdout, res.Stderr)
		}
		return nil
	}
	byHand := func(worker int, name string, p probe.PayloadArgs) error {
		ctx, cancel := context.WithTimeout(ctx, lifeLimit)
		defer cancel()
		thing := like
		thing.Name = name
		_, err := account(kit.Ledger, thing,
			func() (struct{}, error) { return struct{}{}, loops[worker].life(ctx, name, p.Argv(image.ProbePath)) },
			func(struct{}) bool { return true })
		return err
	}
	for pair := -1; pair < pairs; pair++ { // the first meets cold caches
		var a, b turn
		turns := []func() error{
			func() (err error) { a, err = timed(kit, len(envs), each, byAdapter); return },
			func() (err error) { b, err = timed(kit, len(envs), each, byHand); return },
		}
		if err := shuffled(turns); err != nil {
			return nil, nil, err
		}
		if pair >= 0 {
			ours, theirs = append(ours, a), append(theirs, b)
		}
	}
	return ours, theirs, nil
}

func timed(kit *engine.Kit, workers, each int, life func(int, string, probe.PayloadArgs) error) (turn, error) {
	errs := make([]error, workers)
	var wg sync.WaitGroup
	cpu, began := usage(), time.Now()
	for w := range workers {
		wg.Go(func() {
			for i := range each {
				p := probe.PayloadArgs{Word: adapter.Word()}
				name := adapter.Name(kit.RunID, strconv.Itoa(w), strconv.Itoa(i), p.Word[:8])
				if errs[w] = life(w, name, p); errs[w] != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	t := turn{wall: time.Since(began).Seconds(), cpu: (usage() - cpu).Seconds()}
	return t, errors.Join(errs...)
}

// show prints a row; false is a rate that is below the goal for sure.
func show(name string, once, lives int, ours, theirs []turn) bool {
	var logs []float64
	var a, b turn
	for i := range ours {
		logs = append(logs, math.Log(theirs[i].wall/ours[i].wall))
		a.wall, a.cpu = a.wall+ours[i].wall, a.cpu+ours[i].cpu
		b.wall, b.cpu = b.wall+theirs[i].wall, b.cpu+theirs[i].cpu
	}
	n := float64(len(ours) * lives)
	mid, in, _ := stats.PseudoMedian(logs, 0.95)
	mid, low, high := math.Exp(mid), math.Exp(in.Lo), math.Exp(in.Hi)
	verdict := "undecided"
	switch {
	case low >= goal:
		verdict = "met"
	case high < goal:
		verdict = "MISSED"
	}
	fmt.Printf("%-12s %d at once: %7.2f /s, bare %7.2f /s, ratio %.3f [%.3f, %.3f], goal %.2f %s; our CPU time %6.3f ms a life, bare %6.3f ms\n",
		name, once, n/a.wall, n/b.wall, mid, low, high, goal, verdict, a.cpu*1e3/n, b.cpu*1e3/n)
	return verdict != "MISSED"
}

// equal proves that both make the same containers: the configuration of one
// of the adapter's that is running, beside one of the bare loop's. like is what
// the ledger says of the latter.
func equal(ctx context.Context, kit *engine.Kit, env engine.Environment, loops []bare) (like engine.Thing, err error) {
	l := loops[0]
	p := probe.PayloadArgs{Word: adapter.Word(), Stay: true, OnTerm: "ignore"}
	argv := p.Argv(image.ProbePath)
	task := engine.Task{Name: adapter.Name(kit.RunID, "ours"), Argv: argv, Limit: lifeLimit, Stop: &engine.Stop{Grace: 2 * time.Second}}
	ended := make(chan error, 1)
	go func() {
		res, err := env.Run(ctx, task)
		if err == nil && res.Failure != nil {
			err = errors.New(res.Failure.Text)
		}
		ended <- err
	}()
	ours := ""
	for ours == "" {
		select {
		case err := <-ended:
			return like, fmt.Errorf("the container to compare with was not seen: %w", err)
		case <-time.After(20 * time.Millisecond):
		}
		ours, _ = l.describe(ctx, task.Name, argv)
	}
	name := adapter.Name(kit.RunID, "bare")
	like, err = entry(kit, task.Name, name)
	for _, l := range loops {
		if l, ok := l.(learner); ok {
			err = errors.Join(err, l.learn(ctx, task.Name))
		}
	}
	if err := errors.Join(err, <-ended); err != nil {
		return like, err
	}
	if err := kit.Ledger.Made(like); err != nil {
		return like, err
	}
	if err := l.create(ctx, name, argv); err != nil {
		return like, err
	}
	defer func() {
		rerr := l.remove(context.WithoutCancel(ctx), name)
		if rerr == nil {
			rerr = kit.Ledger.Gone(like)
		}
		err = errors.Join(err, rerr)
	}()
	theirs, err := l.describe(ctx, name, argv)
	if err == nil && ours != theirs {
		err = fmt.Errorf("the bare loop makes other containers than the adapter:\n%s\n%s", theirs, ours)
	}
	return like, err
}

// benchKit is the kit of a run, with a folder and a ledger like any run's: what a
// kill leaves is found by plimsoll clean. The machine is ours until done.
func benchKit(ctx context.Context, engines []engine.Engine) (kit *engine.Kit, done func() error, err error) {
	root := os.Geteuid() == 0
	state, err := run.StateDir(root, os.Getenv)
	if err != nil {
		return nil, nil, err
	}
	o := run.Options{Engines: engines, State: state, Root: root, Getenv: os.Getenv, LookPath: exec.LookPath}
	unlock, err := o.Turn(ctx)
	if err != nil {
		return nil, nil, err
	}
	id := record.NewRunID()
	dir, err := state.Claim(id, "", nil)
	if err != nil {
		unlock()
		return nil, nil, err
	}
	kit, ledger, err := run.NewKit(id, dir, o)
	if err != nil {
		unlock()
		return nil, nil, errors.Join(err, state.Release(id))
	}
	return kit, func() error {
		defer unlock()
		_, err := run.SweepAll(context.WithoutCancel(ctx), kit, engines)
		if s, ok := kit.Images.(*imagestore.Store); ok {
			err = errors.Join(err, s.Close())
		}
		if err = errors.Join(err, ledger.Close()); err != nil {
			return err // the folder stays: plimsoll clean finds the rest by it
		}
		return state.Release(id)
	}, nil
}

// entry is what the ledger says of a container that the adapter has there, under
// another name: the bare loop makes the same, at the same place.
func entry(kit *engine.Kit, of, name string) (engine.Thing, error) {
	for _, t := range kit.Ledger.Left() {
		if t.Name == of {
			t.Name = name
			return t, nil
		}
	}
	return engine.Thing{}, fmt.Errorf("the adapter has not told the ledger of its container %s", of)
}

// account is a thing's way through the ledger where a call makes it and takes
// it away again: it is entered before the call, and struck out where the call
// went well. What went wrong stays for the sweep, which looks whether it is
// still there.
func account[T any](l engine.Ledger, t engine.Thing, call func() (T, error), well func(T) bool) (T, error) {
	var none T
	if err := l.Made(t); err != nil {
		return none, err
	}
	out, err := call()
	if err == nil && well(out) {
		err = l.Gone(t)
	}
	return out, err
}
