package record

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
)

// finished writes a run of n trials, and gives trials.jsonl's bytes.
func finished(t *testing.T, n int) (dir string, data []byte) {
	t.Helper()
	w, dir := create(t)
	for i := range n {
		require.NoError(t, w.Append(someTrial(i)))
	}
	run := someRun()
	run.Status = "done"
	require.NoError(t, errors.Join(w.Update(run), w.Close()))
	data, err := os.ReadFile(filepath.Join(dir, TrialsFile))
	require.NoError(t, err)
	return dir, data
}

func put(t *testing.T, dir string, data []byte) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(dir, TrialsFile), data, 0o644))
}

// Whatever byte of a finished run is another one, it is seen, and no trial that
// was changed is handed on.
func TestEveryChangedByteIsSeen(t *testing.T) {
	dir, data := finished(t, 3)
	good, r, err := read(t, dir)
	if err != nil || len(good) != 3 || len(r.Remarks()) != 0 {
		t.Fatalf("%d trials, %v, %v", len(good), r.Remarks(), err)
	}
	for _, flip := range []byte{1, 0x20, 0x80} { // another digit, the other case, no ASCII
		for i := range data {
			if flip == 0x80 && i%5 != 0 || testing.Short() && i%8 != 0 {
				continue
			}
			bad := slices.Clone(data)
			bad[i] ^= flip
			put(t, dir, bad)
			got, r, err := read(t, dir)
			if err == nil && len(r.Remarks()) == 0 {
				t.Fatalf("byte %d ^ %#x: not seen in\n%s", i, flip, bad)
			}
			for k := range got {
				if !reflect.DeepEqual(got[k], good[k]) {
					t.Fatalf("byte %d ^ %#x: trial %d was read as %+v", i, flip, k, got[k])
				}
			}
			if i%11 != 0 {
				continue
			}
			w, _, rerr := Resume(dir)
			if (err == nil) != (rerr == nil) {
				t.Fatalf("byte %d ^ %#x: reading says %v, resuming %v", i, flip, err, rerr)
			}
			if rerr == nil {
				w.Close()
			}
		}
	}
}

func TestLinesLostDoubledOrMoved(t *testing.T) {
	dir, data := finished(t, 4)
	lines := bytes.SplitAfter(data, []byte("\n"))[:4]
	for _, c := range []struct {
		name  string
		order []int
		want  string // of the error, or of the remark
	}{
		{"the first is lost", []int{1, 2, 3}, "trials.jsonl:1: this line is damaged: its sum is "},
		{"one is lost", []int{0, 2, 3}, "trials.jsonl:2: this line is damaged: its sum is "},
		{"the last is lost", []int{0, 1, 2}, "run.json says that 4 trials were recorded, and trials.jsonl holds 3"},
		{"all are lost", nil, "run.json says that 4 trials were recorded, and trials.jsonl holds 0"},
		{"one is there twice", []int{0, 1, 1, 2, 3}, "trials.jsonl:3"},
		{"two are exchanged", []int{0, 2, 1, 3}, "trials.jsonl:2"},
	} {
		var bad []byte
		for _, i := range c.order {
			bad = append(bad, lines[i]...)
		}
		put(t, dir, bad)
		_, r, err := read(t, dir)
		said := ""
		for _, m := range r.Remarks() {
			said += m.Text
		}
		if err != nil {
			said = err.Error()
		}
		if !strings.Contains(said, c.want) {
			t.Errorf("%s: %q", c.name, said)
		}
	}
	require.NoError(t, os.Remove(filepath.Join(dir, TrialsFile)))
	if _, r, err := read(t, dir); err != nil || len(r.Remarks()) != 1 || r.Remarks()[0].Code != "lines-missing" {
		t.Errorf("without the file: %v, %v", r.Remarks(), err)
	}
	// What is missing at the end is measured again, and the run is whole.
	put(t, dir, bytes.Join(lines[:2], nil))
	w, run, err := Resume(dir)
	require.NoError(t, err)
	require.NoError(t, errors.Join(w.Append(someTrial(2)), w.Append(someTrial(3)), w.Update(run), w.Close()))
	if again, err := os.ReadFile(filepath.Join(dir, TrialsFile)); err != nil || !bytes.Equal(again, data) {
		t.Errorf("%v: after the resume\n%s", err, again)
	}
}

// The trials of another run in this one's place are seen, though each of their
// lines fits to the next.
func TestAnotherRunsTrials(t *testing.T) {
	dir, _ := finished(t, 2)
	w, other := create(t)
	for i := range 2 {
		trial := someTrial(i)
		trial.Env = "crun"
		require.NoError(t, w.Append(trial))
	}
	w.Close()
	data, err := os.ReadFile(filepath.Join(other, TrialsFile))
	require.NoError(t, err)
	put(t, dir, data)
	if _, _, err := read(t, dir); err == nil || !strings.Contains(err.Error(), "trials.jsonl:2: this line is damaged: run.json says that the sum up to here is ") {
		t.Errorf("%v", err)
	}
}

// A record of an earlier version is read as it was, and said to be without sums;
// gone on with it gets them, over what was there before, too.
func TestRecordsWithoutSums(t *testing.T) {
	old := `{"seq":0,"env":"a"}` + "\n" + `{"seq":1,"env":"a"}` + "\n"
	dir := dirWith(t, map[string]string{RunFile: `{"format":1}`, TrialsFile: old})
	got, r, err := read(t, dir)
	if err != nil || len(got) != 2 || len(r.Remarks()) != 1 || r.Remarks()[0].Code != "no-sums" {
		t.Fatalf("%d trials, %v, %v", len(got), r.Remarks(), err)
	}
	w, run, err := Resume(dir)
	require.NoError(t, err)
	require.NoError(t, errors.Join(w.Append(someTrial(2)), w.Append(someTrial(3)), w.Update(run), w.Close()))
	if got, r, err = read(t, dir); err != nil || len(got) != 4 || len(r.Remarks()) != 0 {
		t.Fatalf("%d trials, %v, %v", len(got), r.Remarks(), err)
	}
	data, err := os.ReadFile(filepath.Join(dir, TrialsFile))
	require.NoError(t, err)
	put(t, dir, bytes.Replace(data, []byte(`{"seq":1,"env":"a"}`), []byte(`{"seq":1,"env":"b"}`), 1))
	if _, _, err := read(t, dir); err == nil || !strings.Contains(err.Error(), "trials.jsonl:3: this line is damaged: its sum is ") {
		t.Errorf("an earlier line was changed: %v", err)
	}
}

// Of a run that is going on, too, and in the follower's eyes.
func TestFollowerSeesChangedLine(t *testing.T) {
	w, dir := create(t)
	for i := range 3 {
		require.NoError(t, w.Append(someTrial(i)))
	}
	path := filepath.Join(dir, TrialsFile)
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	n := 0
	if _, err := Follow(dir).Next(func(*Trial) { n++ }); err != nil || n != 3 {
		t.Fatalf("%d trials, %v", n, err)
	}
	put(t, dir, bytes.Replace(data, []byte(`"seq":1,`), []byte(`"seq":7,`), 1))
	n = 0
	_, err = Follow(dir).Next(func(*Trial) { n++ })
	var damage *DamageError
	if n != 1 || !errors.As(err, &damage) || damage.Line != 2 {
		t.Errorf("%d trials, then %v", n, err)
	}
}
