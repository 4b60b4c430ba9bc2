package record_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
)

// However many decode at once, the trials come in the order of the file, a
// damaged line stops them at its place, and nobody is left working when the
// reader has had enough.
func TestTrialsInOrder(t *testing.T) {
	dir := recordtest.Big(5000).Write(t)
	read := func(most int) (n int, err error) {
		t.Helper()
		r, err := record.Open(dir)
		require.NoError(t, err)
		for trial, err := range r.Trials() {
			if err != nil {
				return n, err
			}
			if trial.Seq != n {
				t.Fatalf("trial %d in place %d", trial.Seq, n)
			}
			if trial.OK() && trial.Events[record.Ready] <= trial.Events[record.Request] {
				t.Fatalf("trial %d has another's events: %v", n, trial.Events)
			}
			if n++; n == most {
				return n, nil
			}
		}
		return n, nil
	}
	before := runtime.NumGoroutine()
	want, err := read(-1)
	if err != nil || want < 5000 {
		t.Fatalf("%d trials, %v", want, err)
	}
	for _, most := range []int{1, 511, 512, 513, 3000} {
		if n, err := read(most); n != most || err != nil {
			t.Errorf("%d of %d, %v", n, most, err)
		}
	}
	for deadline := time.Now().Add(30 * time.Second); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines, there were %d", runtime.NumGoroutine(), before)
		}
	}

	path := filepath.Join(dir, record.TrialsFile)
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	lines := strings.SplitAfter(string(data), "\n")
	lines[2000] = "{\"seq\":oops}\n"
	require.NoError(t, os.WriteFile(path, []byte(strings.Join(lines, "")), 0o600))
	n, err := read(-1)
	var damage *record.DamageError
	if n != 2000 || !errors.As(err, &damage) || damage.Line != 2001 {
		t.Errorf("%d trials, then %v", n, err)
	}
}
