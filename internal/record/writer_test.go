package record

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/common/require"
)

func someRun() *Run {
	return &Run{ID: "abcd1234", Status: "running", Started: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		Study: Study{Name: "quick"}, Protocol: Protocol{Blocks: 10, PerBlock: 1, Delta: 0.01}}
}

func someTrial(seq int) *Trial {
	exit := 0
	return &Trial{Seq: seq, Block: seq / 2, Env: "runc", Workload: "payload", At: time.Unix(1, 0).UTC(),
		Clock:  ClockShared,
		Events: map[Event]int64{Request: 100, First: 2100, Ready: 2300, Exit: 4000, Removed: 5000},
		Steps:  []Step{{Name: "clone", At: 200}}, Values: map[string]float64{"x": 1.5},
		Inside: "0011", Exit: &exit, Client: &Usage{UserNS: 1}, Host: &Disturbance{StealNS: 2}}
}

func create(t testing.TB) (*Writer, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	w, err := Create(dir, someRun())
	require.NoError(t, err)
	t.Cleanup(func() { w.Close() })
	return w, dir
}

func read(t testing.TB, dir string) ([]Trial, *Reader, error) {
	t.Helper()
	r, err := Open(dir)
	require.NoError(t, err)
	var all []Trial
	for tr, err := range r.Trials() {
		if err != nil {
			return all, r, err
		}
		all = append(all, clone(tr))
	}
	return all, r, nil
}

func clone(t *Trial) Trial {
	c := *t
	c.Events, c.Values, c.Steps = maps.Clone(t.Events), maps.Clone(t.Values), slices.Clone(t.Steps)
	if t.Exit != nil {
		v := *t.Exit
		c.Exit = &v
	}
	if t.Client != nil {
		v := *t.Client
		c.Client = &v
	}
	if t.Host != nil {
		v := *t.Host
		c.Host = &v
	}
	return c
}

func TestRoundTrip(t *testing.T) {
	w, dir := create(t)
	for i := range 5 {
		require.NoError(t, w.Append(someTrial(i)))
	}
	// What was appended is there before the writer is closed.
	got, r, err := read(t, dir)
	require.NoError(t, err)
	if len(got) != 5 || !reflect.DeepEqual(&got[3], someTrial(3)) {
		t.Fatalf("read back %d trials, the fourth is %+v", len(got), got[3])
	}
	if r.Run().Format != FormatVersion || r.Run().ID != "abcd1234" {
		t.Errorf("run: %+v", r.Run())
	}
	if err := w.Append(someTrial(3)); err == nil {
		t.Error("the same trial was taken twice")
	}
	if err := w.Append(someTrial(-1)); err == nil {
		t.Error("a negative number was taken")
	}
}

func TestKilledAtAnyByte(t *testing.T) {
	// Whatever the byte at which a kill tears the file: every whole trial is
	// read, resume measures exactly the rest, and the result is whole.
	w, dir := create(t)
	for i := range 3 {
		require.NoError(t, w.Append(someTrial(i)))
	}
	w.Close()
	path := filepath.Join(dir, TrialsFile)
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	step := 7
	if testing.Short() {
		step = 17
	}
	for cut := 0; cut <= len(data); cut += step {
		if cut > len(data)-step-1 {
			cut = len(data) - 1 // only the newline is missing
		}
		require.NoError(t, os.WriteFile(path, data[:cut], 0o644))
		got, r, err := read(t, dir)
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		whole := strings.Count(string(data[:cut]), "\n")
		if cut == len(data)-1 || data[cut] == '\n' {
			whole++
		}
		if len(got) != whole {
			t.Fatalf("cut at %d: %d trials, want %d", cut, len(got), whole)
		}
		torn := cut > 0 && data[cut-1] != '\n' && data[cut] != '\n'
		if torn != (len(r.Remarks()) == 1) {
			t.Fatalf("cut at %d: torn is %v, remarks %v", cut, torn, r.Remarks())
		}
		w, _, err := Resume(dir)
		if err != nil {
			t.Fatalf("cut at %d: resume: %v", cut, err)
		}
		if len(w.Complete()) != whole {
			t.Fatalf("cut at %d: resume sees %d", cut, len(w.Complete()))
		}
		for i := range 3 {
			if !w.Complete()[i] {
				require.NoError(t, w.Append(someTrial(i)))
			}
		}
		w.Close()
		again, err := os.ReadFile(path)
		require.NoError(t, err)
		if string(again) != string(data) {
			t.Fatalf("cut at %d: after the resume the file differs:\n%s", cut, again)
		}
	}
}

func TestCreateRefuses(t *testing.T) {
	w, dir := create(t)
	if _, err := Create(dir, someRun()); err == nil || !strings.Contains(err.Error(), "--resume") {
		t.Errorf("over a run: %v", err)
	}
	if _, _, err := Resume(dir); err == nil || !strings.Contains(err.Error(), "being written") {
		t.Errorf("second writer: %v", err)
	}
	if err := Fresh(dir); err == nil || !strings.Contains(err.Error(), "--resume") {
		t.Errorf("asked before, over a run: %v", err)
	}
	w.Close()
	if err := w.Append(someTrial(0)); !errors.Is(err, os.ErrClosed) {
		t.Errorf("append after close: %v", err)
	}
	w2, run, err := Resume(dir)
	if err != nil || run.ID != "abcd1234" {
		t.Fatalf("resume after close: %v %v", run, err)
	}
	w2.Close()

	foreign := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(foreign, "thesis.tex"), []byte("x"), 0o644))
	if _, err := Create(foreign, someRun()); err == nil || !strings.Contains(err.Error(), "thesis.tex") {
		t.Errorf("foreign directory: %v", err)
	}
	if err := Fresh(foreign); err == nil || !strings.Contains(err.Error(), "thesis.tex") {
		t.Errorf("asked before, a foreign directory: %v", err)
	}
	if _, err := os.Stat(filepath.Join(foreign, lockFile)); err == nil {
		t.Error("a refused directory was written to")
	}
	if _, _, err := Resume(foreign); err == nil || !strings.Contains(err.Error(), "not a run") {
		t.Errorf("resume of a foreign directory: %v", err)
	}
	another := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(another, RunFile), []byte(`{"name": "my own"}`), 0o644))
	if _, err := Create(another, someRun()); err == nil || strings.Contains(err.Error(), "--resume") || !strings.Contains(err.Error(), "not plimsoll's") {
		t.Errorf("another program's run.json: %v", err)
	}
	// What a Create killed half-way leaves is no obstacle.
	half := t.TempDir()
	for _, n := range []string{lockFile, TrialsFile, RunFile + ".new", "." + RunFile + "-abcdefghijkl.new"} {
		require.NoError(t, os.WriteFile(filepath.Join(half, n), nil, 0o644))
	}
	for _, dir := range []string{half, t.TempDir(), filepath.Join(t.TempDir(), "not", "there")} {
		if err := Fresh(dir); err != nil {
			t.Errorf("asked before, %s: %v", dir, err)
		}
	}
	w3, err := Create(half, someRun())
	if err != nil {
		t.Errorf("half-made directory: %v", err)
	} else {
		w3.Close()
	}
}

func TestInsideIsRecordedOnce(t *testing.T) {
	w, dir := create(t)
	in := Inside{Env: "runc", Namespaces: map[string]string{"mnt": "own", "net": "host"}, UID: "0 0"}
	a, err := w.AddInside(in)
	require.NoError(t, err)
	b, _ := w.AddInside(in)
	w.Close()
	w, _, err = Resume(dir)
	require.NoError(t, err)
	defer w.Close()
	c, _ := w.AddInside(in)
	in.UID = "1000 1000"
	d, _ := w.AddInside(in)
	if a != b || a != c || a == d {
		t.Errorf("ids %s %s %s and, of another, %s", a, b, c, d)
	}
	r, err := Open(dir)
	require.NoError(t, err)
	all, err := r.Insides()
	if err != nil || len(all) != 2 || all[0].ID != a || all[1].UID != "1000 1000" {
		t.Errorf("%v %+v", err, all)
	}
}

func TestOutputAndSamples(t *testing.T) {
	w, dir := create(t)
	name, err := w.WriteOutput(7, []byte("hello"), []byte("oops\n"))
	require.NoError(t, err)
	r, err := Open(dir)
	require.NoError(t, err)
	f, err := r.Output(name)
	require.NoError(t, err)
	f.Close()
	data, _ := os.ReadFile(filepath.Join(dir, OutputDir, name))
	if string(data) != "hello\n"+stderrMark+"oops\n" {
		t.Errorf("output %q", data)
	}
	for _, bad := range []string{"../run.json", "/etc/passwd", ""} {
		if f, err := r.Output(bad); err == nil {
			if info, _ := os.Stat(bad); info == nil || !info.IsDir() {
				f.Close()
			}
			if bad != "" {
				t.Errorf("%q was opened", bad)
			}
		}
	}
	if _, err := w.CreateSamples(7, "../x"); err == nil {
		t.Error("a collector's name became a path")
	}
	s, err := w.CreateSamples(7, "cgroup")
	require.NoError(t, err)
	s.Close()
}

func TestUpdateReplacesWhole(t *testing.T) {
	w, dir := create(t)
	run := someRun()
	run.Status = "done"
	run.Residue = []string{"mount /x"}
	require.NoError(t, w.Update(run))
	r, err := Open(dir)
	if err != nil || r.Run().Status != "done" || r.Run().Residue[0] != "mount /x" {
		t.Errorf("%v %+v", err, r)
	}
	left, err := filepath.Glob(filepath.Join(dir, ".*.new"))
	if err != nil || len(left) > 0 {
		t.Errorf("the temporary file was left: %v %v", left, err)
	}
}

// BenchmarkAppend is the cost of recording one trial, in the measured loop
// but outside the measured path: it must stay below 0.2 ms.
func BenchmarkAppend(b *testing.B) {
	w, _ := create(b)
	t := someTrial(0)
	i := 0
	for b.Loop() {
		t.Seq = i
		require.NoError(b, w.Append(t))
		i++
	}
}

func ExampleSamplesName() {
	fmt.Println(SamplesName(12, "cgroup"))
	// Output: 00000012.cgroup.jsonl <nil>
}
