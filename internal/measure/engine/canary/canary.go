// Package canary plants things of a user's that look as much like Plimsoll's as
// a user could make them, and looks afterwards whether each is still there: for
// tests of whatever removes.
//
// It is opinionated: a canary bears our words, our prefixes and our label with
// the id of a run, is really there (a container runs, a directory has data in
// it), and is in no ledger of a run's. What can't be planted on this machine is
// logged with the reason.
//
// A test that is killed takes nothing away. So each flock has a ledger of its own,
// which says how, and whoever plants next takes away what is in the ledgers of
// processes that are gone.
package canary

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/common/safepath"
	"plimsoll/internal/measure/engine"
)

// Flock is what was planted.
type Flock struct {
	t      testing.TB
	id     string
	kit    *engine.Kit
	all    []bird
	undo   []undoing // in the order of planting
	lacks  []string  // the kinds that can't be planted here
	ledger *os.File
}

// bird is one canary.
type bird struct {
	what  string
	alive func(context.Context) error
}

// undoing is how a canary is taken away.
type undoing struct {
	what string
	do   func(context.Context) error
}

// Plant plants what it can of every kind, and takes it away at the end of the
// test. id is the run that they pretend to be of; kit says where state,
// images and the ordinary user are. kinds, where given, chooses. First it takes
// away what tests that were killed have left.
func Plant(t testing.TB, kit *engine.Kit, id string, kinds ...string) *Flock {
	t.Helper()
	f := &Flock{t: t, id: id, kit: kit}
	f.begin()
	var planted []string
	for _, k := range all {
		if len(kinds) > 0 && !slices.Contains(kinds, k.name) {
			continue
		}
		ctx, cancel := context.WithTimeout(t.Context(), plantLimit)
		had := len(f.all)
		err := k.plant(ctx, f)
		cancel()
		n := len(f.all) - had
		planted = append(planted, fmt.Sprintf("%s %d", k.name, n))
		var cannot cannotError
		switch {
		case errors.As(err, &cannot):
			f.lacks = append(f.lacks, k.name)
			t.Logf("no canaries of %s: %v", k.name, err)
		case err != nil:
			t.Errorf("planting canaries of %s: %v", k.name, err)
		case n < k.least:
			t.Errorf("%d canaries of %s were planted, expected at least %d", n, k.name, k.least)
		}
	}
	t.Logf("%d canaries: %s", f.Count(), strings.Join(planted, ", "))
	return f
}

// all are the kinds of canaries. least is how many of a kind there are wherever it can be
// planted at all.
var all = []struct {
	name  string
	plant func(context.Context, *Flock) error
	least int
}{
	{"files", files, 3}, {"cgroups", cgroups, 7}, {"processes", processes, 3}, {"mounts", mounts, 3}, {"links", links, 3},
	{"docker", docker, 9}, {"podman", podman, 9}, {"podman-rootless", podmanRootless, 9}, {"containerd", containerd, 15},
	{"lxd", lxd, 6}, {"incus", incus, 6}, {"lxc", lxc, 1},
}

const plantLimit = time.Minute

// Count returns how many canaries there are.
func (f *Flock) Count() int { return len(f.all) }

// Complete returns whether every kind could be planted.
func (f *Flock) Complete() bool { return len(f.lacks) == 0 }

// Check demands that every canary is alive.
func (f *Flock) Check() {
	f.t.Helper()
	f.check(f.all)
}

func (f *Flock) check(birds []bird) {
	f.t.Helper()
	for _, b := range birds {
		ctx, cancel := context.WithTimeout(context.Background(), plantLimit)
		if err := b.alive(ctx); err != nil {
			f.t.Errorf("a user's %s is gone: %v", b.what, err)
		}
		cancel()
	}
}

func (f *Flock) add(what string, alive func(context.Context) error) {
	f.all = append(f.all, bird{what, alive})
}

// begin sweeps, and opens the flock's own ledger.
func (f *Flock) begin() {
	f.t.Helper()
	dir, err := openLedgers()
	if err == nil {
		if err = sweep(f.t, dir); err == nil {
			f.ledger, err = newLedger(dir)
		}
	}
	if err != nil {
		f.t.Fatalf("the ledger of canaries: %v", err)
	}
	f.t.Cleanup(func() { f.end(dir) })
}

// end takes everything away, the last one first. Where that fails the ledger
// stays, for the next flock.
func (f *Flock) end(dir *safepath.Dir) {
	defer dir.Close()
	defer f.ledger.Close()
	if f.takeAway(f.undo) {
		if err := dir.Remove(filepath.Base(f.ledger.Name())); err != nil {
			f.t.Errorf("removing the ledger of canaries: %v", err)
		}
	}
}

// takeAway undoes steps, the last one first, and returns whether all are undone.
func (f *Flock) takeAway(steps []undoing) bool {
	whole := true
	for _, u := range slices.Backward(steps) {
		ctx, cancel := context.WithTimeout(context.Background(), plantLimit)
		if err := u.do(ctx); err != nil {
			f.t.Errorf("taking the canary %s away: %v", u.what, err)
			whole = false
		}
		cancel()
	}
	return whole
}

// after says, before a canary is planted, how it is taken away again.
func (f *Flock) after(s step) error {
	f.undo = append(f.undo, undoing{s.What, s.undo})
	return enter(f.ledger, s)
}

// room is a directory for what a canary needs.
func (f *Flock) room() (string, error) {
	dir, err := os.MkdirTemp("", "canary-")
	if err != nil {
		return "", err
	}
	return dir, f.after(step{What: dir, How: removeTree, Path: dir})
}

// cannotError is why a kind can't be planted here.
type cannotError string

func (e cannotError) Error() string { return string(e) }

func cannot(format string, args ...any) error { return cannotError(fmt.Sprintf(format, args...)) }

// start runs a process under a name.
func (f *Flock) start(argv0 string, env ...string) (int, error) {
	c := exec.Command("cat")
	c.Args[0] = argv0
	c.Env = append(os.Environ(), env...)
	return f.run(c)
}

// execute runs a program of the user's.
func (f *Flock) execute(path string, args ...string) (int, error) {
	return f.run(exec.Command(path, args...))
}

// run starts a process that waits for the end of its input: only the test's process
// holds the other end, so that both end together.
func (f *Flock) run(c *exec.Cmd) (int, error) {
	input, err := c.StdinPipe()
	if err != nil {
		return 0, err
	}
	if err := c.Start(); err != nil {
		return 0, errors.Join(err, input.Close())
	}
	ended := make(chan struct{})
	go func() {
		_ = c.Wait() // where it is killed, Check says so
		close(ended)
	}()
	pid := c.Process.Pid
	what := fmt.Sprintf("process %d (%s)", pid, c.Args[0])
	f.undo = append(f.undo, undoing{what, func(ctx context.Context) error { return stop(ctx, input, ended) }})
	f.add(what, func(context.Context) error {
		select {
		case <-ended:
			return errors.New("it has ended")
		default:
			return nil
		}
	})
	return pid, nil
}

// stop ends a process by its input.
func stop(ctx context.Context, input io.Closer, ended <-chan struct{}) error {
	_ = input.Close() // it may be closed: the process is gone, and Check has said so
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
