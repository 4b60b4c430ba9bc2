package run

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/common/safepath"
)

// noted says whether a note is there.
func (s State) noted(t *testing.T) bool {
	t.Helper()
	_, err := os.Lstat(s.note())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return err == nil
}

// standing is a guard of a note.
func standing(t *testing.T, s State, by string) *guard {
	t.Helper()
	g, err := s.startGuard(by)
	require.NoError(t, err)
	t.Cleanup(func() { _ = g.dismiss() })
	return g
}

func ends(t *testing.T, g *guard) {
	t.Helper()
	select {
	case <-g.process.Ended():
	case <-time.After(30 * time.Second):
		t.Fatal("the guard goes on, though the pipe has ended")
	}
}

// TestKernelGuard: what would end a program does not end a guard, another child of ours does
// not keep its pipe open, and at the pipe's end it does what its note says.
func TestKernelGuard(t *testing.T) {
	s := State{t.TempDir()}
	by, err := s.noteKernel(nil)
	require.NoError(t, err)
	g := standing(t, s, by)
	later := standing(t, State{t.TempDir()}, "another's") // it would inherit the first one's pipe
	for _, sig := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		require.NoError(t, g.process.Signal(sig))
	}
	select {
	case <-g.process.Ended():
		t.Fatal("a signal has ended it")
	case <-time.After(200 * time.Millisecond):
	}
	if !s.noted(t) {
		t.Error("it has not waited")
	}
	require.NoError(t, g.pipe.Close()) // as the kernel does when we are killed
	ends(t, g)
	if s.noted(t) {
		t.Error("it has put nothing back")
	}
	require.NoError(t, later.dismiss())
	ends(t, later)
	if err := (*guard)(nil).dismiss(); err != nil {
		t.Error(err)
	}
}

// TestKernelGuardOfAnother: what the next run has noted is none of its business.
func TestKernelGuardOfAnother(t *testing.T) {
	s := State{t.TempDir()}
	by, err := s.noteKernel(nil)
	require.NoError(t, err)
	g := standing(t, s, by)
	next, err := s.noteKernel(nil)
	require.NoError(t, err)
	if next == by {
		t.Fatal("two notes have one name")
	}
	require.NoError(t, g.dismiss())
	if !s.noted(t) {
		t.Error("the guard of an earlier run has put back what the next one has set")
	}
}

// TestNoteOneAtATime: while one puts back, another waits, and then goes by what is noted by
// then.
func TestNoteOneAtATime(t *testing.T) {
	s := State{t.TempDir()}
	by, err := s.noteKernel(nil)
	require.NoError(t, err)
	home, err := safepath.Open(s.Dir, safepath.Rule{})
	require.NoError(t, err)
	defer home.Close()
	f, n, err := takeNote(home)
	require.NoError(t, err)
	if n.By != by {
		t.Errorf("the note is of %q, not %q", n.By, by)
	}
	guards := make(chan error, 1)
	go func() { guards <- s.restoreKernel(by) }()
	select {
	case err := <-guards:
		t.Fatalf("it did not wait: %v", err)
	case <-time.After(100 * time.Millisecond):
	}
	// We have put it back and go on with a note of our own.
	require.NoError(t, home.Remove(noteFile))
	require.NoError(t, writeNote(home, kernelNote{origin: here(), By: "next"}))
	f.Close()
	require.NoError(t, <-guards)
	if !s.noted(t) {
		t.Error("it has taken the next run's note")
	}
	require.NoError(t, s.RestoreKernel())
	if s.noted(t) {
		t.Error("whatever is noted is to be put back")
	}
}
