// Package canary plants things of a user's that look as much like Plimsoll's as
// a user could make them, and looks afterwards whether each is still there: for
// tests of whatever removes.
//
// It is opinionated: a canary bears our words, our prefixes and our label with
// the id of a run, is really there (a container runs, a directory has data in
// it), and is in no ledger. What can't be planted on this machine is logged
// with the reason.
package canary

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"plimsoll/internal/measure/engine"
)

// Flock is what was planted.
type Flock struct {
	t   testing.TB
	id  string
	kit *engine.Kit
	all []bird
}

// bird is one canary.
type bird struct {
	what  string
	alive func(context.Context) error
}

// Plant plants what it can of every kind, and takes it away at the end of the
// test. id is the run that they pretend to be of; kit says where state,
// images and the ordinary user are. kinds, where given, chooses.
func Plant(t testing.TB, kit *engine.Kit, id string, kinds ...string) *Flock {
	t.Helper()
	f := &Flock{t: t, id: id, kit: kit}
	for _, k := range all {
		if len(kinds) > 0 && !slices.Contains(kinds, k.name) {
			continue
		}
		ctx, cancel := context.WithTimeout(t.Context(), plantLimit)
		err := k.plant(ctx, f)
		cancel()
		var cannot cannotError
		switch {
		case errors.As(err, &cannot):
			t.Logf("no canaries of %s: %v", k.name, err)
		case err != nil:
			t.Errorf("planting canaries of %s: %v", k.name, err)
		}
	}
	return f
}

// all are the kinds of canaries.
var all = []struct {
	name  string
	plant func(context.Context, *Flock) error
}{
	{"files", files}, {"cgroups", cgroups}, {"processes", processes}, {"mounts", mounts}, {"links", links},
	{"docker", docker}, {"podman", podman}, {"podman-rootless", podmanRootless}, {"containerd", containerd},
	{"lxd", lxd}, {"incus", incus}, {"lxc", lxc},
}

const plantLimit = time.Minute

// Check demands that every canary is alive.
func (f *Flock) Check() {
	f.t.Helper()
	for _, b := range f.all {
		ctx, cancel := context.WithTimeout(context.Background(), plantLimit)
		if err := b.alive(ctx); err != nil {
			f.t.Errorf("a user's %s is gone: %v", b.what, err)
		}
		cancel()
	}
}

// Len is how many there are.
func (f *Flock) Len() int { return len(f.all) }

func (f *Flock) add(what string, alive func(context.Context) error) {
	f.all = append(f.all, bird{what, alive})
}

// after takes something away at the end of the test.
func (f *Flock) after(what string, remove func(context.Context) error) {
	f.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), plantLimit)
		defer cancel()
		if err := remove(ctx); err != nil {
			f.t.Errorf("taking the canary %s away: %v", what, err)
		}
	})
}

// cannotError is why a kind can't be planted here.
type cannotError string

func (e cannotError) Error() string { return string(e) }

func cannot(format string, args ...any) error { return cannotError(fmt.Sprintf(format, args...)) }

// tool runs a program of a user's: with the environment that it has, as the
// user where one is given.
type tool struct {
	argv []string
	env  []string
	as   *engine.User
}

func (p tool) run(ctx context.Context, args ...string) (string, error) {
	argv := append(append([]string{}, p.argv...), args...)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.WaitDelay, cmd.Dir = time.Second, "/"
	if p.env != nil {
		cmd.Env = append(cmd.Environ(), p.env...)
	}
	if p.as != nil {
		cred := &syscall.Credential{Uid: uint32(p.as.UID), Gid: uint32(p.as.GID)}
		for _, g := range p.as.Groups {
			cred.Groups = append(cred.Groups, uint32(g))
		}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: cred}
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s: %w: %s", strings.Join(argv, " "), err, strings.TrimSpace(string(out)))
	}
	return strings.TrimSpace(string(out)), nil
}

// says demands that a command succeeds and prints something.
func (p tool) says(want string, args ...string) func(context.Context) error {
	return func(ctx context.Context) error {
		out, err := p.run(ctx, args...)
		if err == nil && !strings.Contains(out, want) {
			err = fmt.Errorf("%s says %q, and not %q", strings.Join(args, " "), out, want)
		}
		return err
	}
}

// start runs a sleeping process under a name; it ends with the test.
func (f *Flock) start(argv0 string, env ...string) (int, error) {
	c := exec.Command("sleep", "100000")
	c.Args[0] = argv0
	c.Env = append(os.Environ(), env...)
	if err := c.Start(); err != nil {
		return 0, err
	}
	ended := make(chan struct{})
	go func() {
		_ = c.Wait() // it is killed at the end, and says so
		close(ended)
	}()
	f.after("process", func(context.Context) error {
		_ = c.Process.Kill() // where it is gone, Check has said so
		<-ended
		return nil
	})
	pid := c.Process.Pid
	f.add(fmt.Sprintf("process %d (%s)", pid, argv0), func(context.Context) error {
		select {
		case <-ended:
			return errors.New("it has ended")
		default:
			return nil
		}
	})
	return pid, nil
}
