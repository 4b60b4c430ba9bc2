package run

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/fake"
	"plimsoll/internal/measure/image"
	"plimsoll/internal/measure/workload"
	"plimsoll/internal/record"
)

// What an adapter refuses before it has asked for anything is tried once: the
// record stays whole, and says of the others that they were not begun. What an
// engine refuses itself is tried each time.
func TestRefusedOnce(t *testing.T) {
	for _, c := range []struct {
		name   string
		events map[record.Event]int64
		tried  int64
	}{
		{"by the adapter", nil, 1},
		{"by the engine", map[record.Event]int64{record.Request: 1}, 7},
	} {
		t.Run(c.name, func(t *testing.T) {
			var tried atomic.Int64
			refuses := spoiled{fake.New(), "refuses", 0, func(context.Context, engine.Task, engine.Result) (engine.Result, error) {
				tried.Add(1)
				return engine.Result{Events: c.events, Failure: &record.Failure{Class: record.Unsupported, Text: "it has none"}}, nil
			}}
			o := options(t, 6, fake.New(), refuses)
			sum, err := Execute(t.Context(), o)
			require.NoError(t, err)
			if sum.Trials != 14 || sum.Failed != 0 || sum.Unsupported != 7 || sum.Without() != "7 of 14 trials are unsupported" {
				t.Errorf("summary %+v: %s", sum, sum.Without())
			}
			if tried.Load() != c.tried {
				t.Errorf("tried %d times, want %d", tried.Load(), c.tried)
			}
			got := results(t, o.Dir)["refuses"]
			if len(got) != 7 {
				t.Fatalf("%d trials in the record", len(got))
			}
			for i, tr := range got {
				f := tr.Failure
				if f == nil || f.Class != record.Unsupported || f.Text != "it has none" || f.Untried != (int64(i) >= c.tried) || tr.At.IsZero() {
					t.Errorf("trial %d: %+v", i, tr)
				}
			}
		})
	}
}

// A resumed run finds out anew what is refused, and comes to as many trials.
func TestRefusedAndResumed(t *testing.T) {
	finish := make(chan struct{})
	refuses := spoiled{fake.New(), "refuses", 0, func(context.Context, engine.Task, engine.Result) (engine.Result, error) {
		return engine.Result{Failure: &record.Failure{Class: record.Unsupported, Text: "it has none"}}, nil
	}}
	stops := spoiled{fake.New(), "stops", 2, func(_ context.Context, _ engine.Task, res engine.Result) (engine.Result, error) {
		select {
		case <-finish:
		default:
			close(finish)
		}
		return res, nil
	}}
	o := options(t, 6, refuses, stops)
	o.Finish = finish
	if sum, err := Execute(t.Context(), o); err != nil || !sum.Interrupted {
		t.Fatalf("%+v, %v", sum, err)
	}
	o.Finish, o.Resume = make(chan struct{}), true
	sum, err := Execute(t.Context(), o)
	if err != nil || sum.Trials != 14 {
		t.Fatalf("%+v, %v", sum, err)
	}
	for i, tr := range results(t, o.Dir)["refuses"] {
		if tr.Failure == nil || tr.Failure.Text != "it has none" {
			t.Errorf("trial %d: %+v", i, tr.Failure)
		}
	}
}

func TestWithout(t *testing.T) {
	for want, s := range map[string]Summary{
		"":                     {Trials: 9},
		"2 of 9 trials failed": {Trials: 9, Failed: 2},
		"of 9 trials 3 are unsupported and 2 failed": {Trials: 9, Failed: 2, Unsupported: 3},
	} {
		if got := s.Without(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// imageAt is a provider of one image's directory.
type imageAt struct {
	image.Provider
	dir string
}

func (i imageAt) Path(context.Context, string, image.Format) (string, error) { return i.dir, nil }

// What the baseline host lacks of a workload is found by looking: its programs
// on the PATH, its files in the image.
func TestHostLacks(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "opt", "plimsoll"), 0o755))
	for _, name := range []string{"host-lacks.py", "opt/plimsoll/python-suite.py"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	r := &runner{Options: Options{LookPath: exec.LookPath}, site: site{kit: &engine.Kit{Images: imageAt{dir: dir}}}}
	for text, want := range map[string]string{
		"run: [sh, -c, 'true']\n":                                     "",
		"run: [/plimsoll-probe, bench]\n":                             "",
		"run: [no-such-program]\n":                                    "the host has no program no-such-program",
		"run: [/no/such/program]\n":                                   "the host has no program /no/such/program",
		"prepare: [[no-such-program]]\nrun: [sh]\n":                   "the host has no program no-such-program",
		"run: [sh, /host-lacks.py]\n":                                 "the host has no file /host-lacks.py of the image",
		"run: [sh, /made/by/the/workload, -c, /etc/passwd, ./here]\n": "",
		"run: [sh, /work/www]\n":                                      "the workload names /work/www, a path of the image",
		"run: [sh, /workers]\n":                                       "",
	} {
		inst, err := file(t, "one", text).Instance(nil)
		require.NoError(t, err)
		if got := r.missing(t.Context(), inst.Plan, "busybox"); got != want {
			t.Errorf("%s: %q, want %q", strings.TrimSpace(text), got, want)
		}
	}
	r.LookPath = func(string) (string, error) { return "/bin/true", nil }
	for _, name := range []string{"python", "nginx", "postgres"} { // what is the toolbox's own
		w, err := workload.Find(name)
		require.NoError(t, err)
		inst, err := w.Instance(nil)
		require.NoError(t, err)
		if r.missing(t.Context(), inst.Plan, w.Image) == "" {
			t.Errorf("%s is not left out on a host that has its programs, and none of its files", name)
		}
	}
}
