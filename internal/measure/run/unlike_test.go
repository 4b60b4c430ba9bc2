package run

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/fake"
	"plimsoll/internal/measure/likeness"
	"plimsoll/internal/record"
)

// of a version: what the fake engine says of itself.
type versioned struct {
	spoiled
	version string
}

func (v versioned) Open(ctx context.Context, kit *engine.Kit, spec engine.Spec) (engine.Environment, error) {
	env, err := v.spoiled.Open(ctx, kit, spec)
	if err != nil {
		return nil, err
	}
	return versionedEnv{env, v.version}, nil
}

type versionedEnv struct {
	engine.Environment
	version string
}

func (e versionedEnv) Facts() map[string]string {
	return map[string]string{"simulated": "yes", "version": e.version}
}

// halfDone runs a study of six blocks and a warm-up until its third trial; the
// second failed.
func halfDone(t *testing.T, version string, host record.Host) (o Options, at func(version string, host record.Host) Options) {
	t.Helper()
	finish := make(chan struct{})
	n := 0
	made := func(version string) engine.Engine {
		return versioned{spoiled{fake.New(), "engine", 0, func(_ context.Context, _ engine.Task, res engine.Result) (engine.Result, error) {
			switch n++; n {
			case 2:
				res.Failure = &record.Failure{Class: record.Crash, Text: "it fell"}
			case 3:
				close(finish)
			}
			return res, nil
		}}, version}
	}
	o = options(t, 6, made(version))
	o.Finish, o.Run.Host, o.Run.Tool = finish, host, record.Tool{Version: "1"}
	if sum, err := Execute(t.Context(), o); err != nil || !sum.Interrupted || sum.Failed != 1 {
		t.Fatalf("%+v, %v", sum, err)
	}
	return o, func(version string, host record.Host) Options {
		next := o
		old, err := record.Open(o.Dir)
		require.NoError(t, err)
		next.Run, next.Finish, next.Resume = old.Run(), make(chan struct{}), true
		next.Engines = []engine.Engine{made(version)}
		next.Run.Host = host
		return next
	}
}

var ours = record.Host{Name: "one", Kernel: "6.1.0", CPU: "some", CPUs: 4, Memory: 1 << 34, OS: "Debian 12",
	Remarks: []record.Remark{{Code: "load", Level: "warn", Text: "busy"}}}

// A run that is gone on with ends as one that was not: what failed before counts.
func TestResumeCountsEarlierFailures(t *testing.T) {
	_, at := halfDone(t, "1.0", ours)
	sum, err := Execute(t.Context(), at("1.0", ours))
	if err != nil || sum.Trials != 7 || sum.Failed != 1 || sum.Without() != "1 of 7 trials failed" {
		t.Errorf("%+v, %v", sum, err)
	}
}

// On what it was not begun on it is refused, and its record stays as it is to
// the last byte.
func TestResumeRefusesTheUnlike(t *testing.T) {
	change := func(f func(*record.Host)) record.Host {
		h := ours
		f(&h)
		return h
	}
	for _, c := range []struct {
		name, version string
		host          record.Host
		want          string // "" is not refused
	}{
		{"another machine", "1.0", change(func(h *record.Host) { h.Name, h.CPU = "two", "other" }), "machine: one → two; cpu: some → other"},
		{"another kernel", "1.0", change(func(h *record.Host) { h.Kernel = "6.12.4" }), "kernel: 6.1.0 → 6.12.4"},
		{"less memory", "1.0", change(func(h *record.Host) { h.Memory /= 2 }), "memory: 17179869184 → 8589934592"},
		{"another version", "1.1", ours, "engine version: 1.0 → 1.1"},
		{"a page of memory less", "1.0", change(func(h *record.Host) { h.Memory -= 4096 }), ""},
		{"another release", "1.0", change(func(h *record.Host) { h.OS = "Debian 13" }), ""},
	} {
		o, at := halfDone(t, "1.0", ours)
		before := everything(t, o.Dir)
		_, err := Execute(t.Context(), at(c.version, c.host))
		if c.want == "" {
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		var unlike *likeness.Error
		if !errors.As(err, &unlike) || !strings.Contains(err.Error(), "("+c.want+")") {
			t.Errorf("%s: %v", c.name, err)
		}
		if after := everything(t, o.Dir); !reflect.DeepEqual(after, before) {
			t.Errorf("%s: the record has changed:\n%s", c.name, after[record.RunFile])
		}
		if left, err := o.State.Abandoned(); err != nil || len(left) > 0 {
			t.Errorf("%s: left behind %v, %v", c.name, left, err)
		}
	}
}

// Where it is wanted all the same, the record has the facts of both parts.
func TestResumeKeepsEarlierFacts(t *testing.T) {
	_, at := halfDone(t, "1.0", ours)
	other := ours
	other.Kernel, other.Remarks = "6.12.4", []record.Remark{{Code: "swap", Level: "warn", Text: "it swaps"}}
	o := at("1.1", other)
	o.Unlike, o.Run.Tool.Version = true, "2"
	if _, err := Execute(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	r, err := record.Open(o.Dir)
	require.NoError(t, err)
	run := r.Run()
	if len(run.Earlier) != 1 || len(run.Resumed) != 1 {
		t.Fatalf("%+v, resumed %v", run.Earlier, run.Resumed)
	}
	e := run.Earlier[0]
	var said []string
	for _, d := range e.Differs {
		if d.Fact != "plimsoll's probe" {
			said = append(said, d.String())
		}
	}
	if got := strings.Join(said, "; "); got != "kernel: 6.1.0 → 6.12.4; plimsoll: 1 → 2; engine version: 1.0 → 1.1" {
		t.Errorf("it differs in %s", got)
	}
	if !e.Until.Equal(run.Resumed[0]) || e.Host.Kernel != "6.1.0" || e.Tool.Version != "1" || e.Facts["engine"]["version"] != "1.0" {
		t.Errorf("earlier: %+v", e)
	}
	if run.Host.Kernel != "6.12.4" || run.Environments[0].Facts["version"] != "1.1" || len(run.Host.Remarks) != 2 {
		t.Errorf("now: %+v, %+v", run.Host, run.Environments[0])
	}
}

// everything is a record's files but the lock.
func everything(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, name := range []string{record.RunFile, record.TrialsFile, record.InsideFile} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		out[name] = string(bytes.TrimSpace(b))
	}
	return out
}

// stopsAfter is a progress that ends the run with the trial after so many, and keeps what is
// said.
type stopsAfter struct {
	NoProgress
	after  int
	finish chan struct{}
	said   []string
}

func (s *stopsAfter) Trial(u Upcoming) {
	if u.Done == s.after {
		close(s.finish)
	}
}

func (s *stopsAfter) Remark(text string) { s.said = append(s.said, text) }

// A run whose images hold other content now is refused as one on another machine; where
// the record doesn't say what they held, it is gone on with, and that is said.
func TestResumeRefusesOtherImages(t *testing.T) {
	const other = "sha256:0123456789abcdef"
	begun := &stopsAfter{after: 3, finish: make(chan struct{})}
	o := pullOptions(t, "payload", newPulling("engine"))
	o.Finish, o.Progress = begun.finish, begun
	if sum, err := Execute(t.Context(), o); err != nil || !sum.Interrupted || sum.Trials != 4 {
		t.Fatalf("%+v, %v", sum, err)
	}
	for _, c := range []struct {
		name   string
		change func(*record.Run)
		unlike bool
		want   string // of the refusal; "" for none
		says   string // the remark
		keeps  string // what is recorded of it
	}{
		{name: "the same", change: func(*record.Run) {}},
		{name: "other content", change: func(r *record.Run) { r.Images[0].WithoutProbe = other }, want: "content of the image payload: sha256:0123456789ab → sha256:"},
		{name: "other content, wanted", change: func(r *record.Run) { r.Images[0].WithoutProbe = other }, unlike: true, keeps: other},
		{name: "of an earlier version", change: func(r *record.Run) { r.Images[0].Tree, r.Images[0].WithoutProbe = other, "" }, want: "content of the image payload: sha256:0123456789ab → sha256:"},
		{name: "of an earlier version, with another probe", change: func(r *record.Run) {
			r.Images[0].Tree, r.Images[0].WithoutProbe, r.Tool.Probe = other, "", other
		}, says: "whether payload is what", keeps: other},
		{name: "without digests", change: func(r *record.Run) { r.Images = nil }, says: "whether payload is what", keeps: "not recorded"},
	} {
		next := o // goes on with the same beginning, in a record of its own
		next.Dir = filepath.Join(t.TempDir(), "run")
		require.NoError(t, os.CopyFS(next.Dir, os.DirFS(o.Dir)))
		w, was, err := record.Resume(next.Dir)
		require.NoError(t, err)
		if len(was.Images) != 1 || was.Images[0].WithoutProbe == "" || was.Images[0].WithoutProbe == was.Images[0].Tree {
			t.Fatalf("%s: the record's images are %+v", c.name, was.Images)
		}
		c.change(was)
		require.NoError(t, errors.Join(w.Update(was), w.Close()))
		held := func() string {
			run, err := os.ReadFile(filepath.Join(next.Dir, record.RunFile))
			require.NoError(t, err)
			trials, err := os.ReadFile(filepath.Join(next.Dir, record.TrialsFile))
			require.NoError(t, err)
			return string(run) + string(trials)
		}
		before := held()

		again := &stopsAfter{after: -1}
		next.Run, next.Resume, next.Unlike, next.Finish, next.Progress = was, true, c.unlike, make(chan struct{}), again
		next.Engines = []engine.Engine{newPulling("engine")}
		_, err = Execute(t.Context(), next)
		if said := strings.Join(again.said, "\n"); c.says != "" && !strings.Contains(said, c.says) || c.says == "" && strings.Contains(said, "whether payload") {
			t.Errorf("%s: it says %q", c.name, said)
		}
		if c.want != "" {
			if unlike := (*likeness.Error)(nil); !errors.As(err, &unlike) || !strings.Contains(err.Error(), "("+c.want) {
				t.Errorf("%s: %v", c.name, err)
			}
			if after := held(); after != before {
				t.Errorf("%s: the record has changed:\n%s", c.name, after)
			}
			continue
		}
		r, oerr := record.Open(next.Dir)
		require.NoError(t, errors.Join(err, oerr))
		run := r.Run()
		var kept []string
		for _, e := range run.Earlier {
			for _, d := range e.Differs {
				if strings.HasPrefix(d.Fact, "content of") {
					kept = append(kept, d.Was)
				}
			}
		}
		if got := strings.Join(kept, " "); got != c.keeps || run.Status != "done" || len(run.Images) != 1 || run.Images[0].Name != "payload" || run.Images[0].WithoutProbe == other {
			t.Errorf("%s: kept %q, images %+v, %s", c.name, got, run.Images, run.Status)
		}
	}
}
