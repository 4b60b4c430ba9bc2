// Package kittest is what tests of engines stand on that ask none: a kit without images, a
// ledger in memory, networks of their own. It is apart from enginetest, which holds
// all that makes and serves images.
package kittest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/user"
	"slices"
	"strconv"
	"sync"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/probe"
)

// Bare is a kit without images: a directory of its own that ordinary users can
// reach, the probe, and a ledger in memory whose entries must all be gone again.
func Bare(t testing.TB) *engine.Kit {
	t.Helper()
	dir, err := os.MkdirTemp("", "plimsoll-test-")
	require.NoError(t, err)
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Errorf("removing the test's directory: %v", err)
		}
	})
	if err := os.Chmod(dir, 0o755); err != nil { // an ordinary user's engine reads there
		t.Fatal(err)
	}
	path, err := probe.Extract(dir)
	require.NoError(t, err)
	id := RunID()
	mark, err := engine.Mark(dir, id)
	require.NoError(t, err)
	ledger := &Ledger{}
	t.Cleanup(func() {
		for _, open := range ledger.Left() {
			t.Errorf("the ledger says that this was made and is not gone: %s", open)
		}
	})
	kit := &engine.Kit{
		RunID: id, Dir: dir, Mark: mark, ProbePath: path,
		LookPath: exec.LookPath, Getenv: os.Getenv,
		Root: os.Geteuid() == 0, Ledger: ledger,
		Launcher: func(ctx context.Context, opts probe.Options) (*probe.Launcher, error) {
			return probe.Start(ctx, path, opts)
		},
	}
	kit.User, kit.NoUser = ordinaryUser()
	return kit
}

// RunID draws an id as a run has one.
func RunID() string { return fmt.Sprintf("%08x", rand.Uint32()) }

// ordinaryUser is ourselves, or for root the user behind sudo or the lab's.
func ordinaryUser() (*engine.User, string) {
	var u *user.User
	if os.Geteuid() != 0 {
		u, _ = user.Current()
	}
	for _, name := range []string{os.Getenv("PLIMSOLL_USER"), os.Getenv("SUDO_USER"), "plimsoll"} {
		if u != nil || name == "" || name == "root" {
			continue
		}
		u, _ = user.Lookup(name)
	}
	if u == nil {
		return nil, "there is no ordinary user: set PLIMSOLL_USER, or let the lab make the user plimsoll"
	}
	eu := &engine.User{Name: u.Username, Home: u.HomeDir}
	eu.UID, _ = strconv.Atoi(u.Uid)
	eu.GID, _ = strconv.Atoi(u.Gid)
	if ids, err := u.GroupIds(); err == nil {
		for _, id := range ids {
			if n, err := strconv.Atoi(id); err == nil {
				eu.Groups = append(eu.Groups, n)
			}
		}
	}
	for _, dir := range []string{os.Getenv("XDG_RUNTIME_DIR"), "/run/user/" + u.Uid, "/run/plimsoll-lab/xdg"} {
		if usableBy(dir, eu.UID) && eu.RuntimeDir == "" {
			eu.RuntimeDir = dir
		}
	}
	return eu, ""
}

// Ledger is a ledger in memory.
type Ledger struct {
	mu   sync.Mutex
	left []engine.Thing
}

func (l *Ledger) Made(t engine.Thing) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !slices.Contains(l.left, t) {
		l.left = append(l.left, t)
	}
	return nil
}

func (l *Ledger) Gone(t engine.Thing) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.left = slices.DeleteFunc(l.left, func(o engine.Thing) bool { return o == t })
	return nil
}

func (l *Ledger) Left() []engine.Thing {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.left)
}
