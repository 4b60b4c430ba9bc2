package record_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
)

// TestFollow reads a run as it grows, also byte by byte.
func TestFollow(t *testing.T) {
	whole := recordtest.Typical().Write(t)
	text, err := os.ReadFile(filepath.Join(whole, record.TrialsFile))
	require.NoError(t, err)
	var want []record.Trial
	r, err := record.Open(whole)
	require.NoError(t, err)
	for trial, err := range r.Trials() {
		require.NoError(t, err)
		want = append(want, record.Trial{Seq: trial.Seq, Env: trial.Env})
	}
	dir := t.TempDir()
	path := filepath.Join(dir, record.TrialsFile)
	f := record.Follow(dir)
	var got []record.Trial
	take := func(trial *record.Trial) { got = append(got, record.Trial{Seq: trial.Seq, Env: trial.Env}) }
	if changed, err := f.Next(take); changed || err != nil {
		t.Fatalf("without a file: %v, %v", changed, err)
	}
	out, err := os.Create(path)
	require.NoError(t, err)
	defer out.Close()
	steps := []int{1, 7, 300, 1000, 1, 1, 5000, 1 << 20}
	for i := 0; len(text) > 0; i++ {
		n := min(steps[i%len(steps)], len(text))
		if _, err := out.Write(text[:n]); err != nil {
			t.Fatal(err)
		}
		text = text[n:]
		if changed, err := f.Next(take); !changed || err != nil {
			t.Fatalf("after %d more bytes: %v, %v", n, changed, err)
		}
		if changed, err := f.Next(take); changed || err != nil {
			t.Fatalf("without change: %v, %v", changed, err)
		}
	}
	same := func(a, b record.Trial) bool { return a.Seq == b.Seq && a.Env == b.Env }
	if !slices.EqualFunc(got, want, same) {
		t.Errorf("it gave %d trials, not %d", len(got), len(want))
	}
	if _, err := out.WriteString("no trial\n"); err != nil {
		t.Fatal(err)
	}
	var damage *record.DamageError
	for range 2 {
		if _, err := f.Next(take); !errors.As(err, &damage) || damage.Line != len(want)+1 {
			t.Errorf("damage is told as %v", err)
		}
	}
	f = record.Follow(dir)
	if _, err := f.Next(take); !errors.As(err, &damage) {
		t.Errorf("damage is told as %v", err)
	}
	g := record.Follow(whole)
	if _, err := g.Next(take); err != nil {
		t.Fatal(err)
	}
	require.NoError(t, os.WriteFile(filepath.Join(whole, record.TrialsFile), nil, 0o644))
	if _, err := g.Next(take); !errors.Is(err, record.ErrReplaced) {
		t.Errorf("another file is told as %v", err)
	}
}

// TestBeingWritten: a run is being written for as long as its writer is there,
// and to ask does not keep a writer out.
func TestBeingWritten(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	is := func(want bool) {
		t.Helper()
		if got, err := record.BeingWritten(dir); got != want || err != nil {
			t.Errorf("%v, %v", got, err)
		}
	}
	is(false)
	w, err := record.Create(dir, recordtest.Typical().Run())
	require.NoError(t, err)
	is(true)
	is(true)
	require.NoError(t, w.Close())
	is(false)
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
				_, _ = record.BeingWritten(dir)
			}
		}
	}()
	for range 50 {
		w, _, err := record.Resume(dir)
		if err != nil {
			t.Errorf("while somebody asks: %v", err)
			break
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	<-ended
}
