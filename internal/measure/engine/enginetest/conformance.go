// Package enginetest is the conformance test that every adapter goes through,
// against the real engine, and the fake too.
//
// It is opinionated: what an adapter promises is tried, not believed; proof
// comes from inside the container; what can't be tried here is skipped with
// the reason; and a machine that is not as clean afterwards as before fails
// the test, whatever else went well.
package enginetest

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"testing"
	"time"

	"plimsoll/internal/measure/child"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/image"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/record"
)

// Options say what is special about an engine or a configuration.
type Options struct {
	// Kit replaces the one that Kit(t) makes.
	Kit *engine.Kit
	// Limits are asked for; nil means 1 CPU and 256 MiB.
	Limits *engine.Limits
	// Own and Shared are the namespaces (mnt, pid, net, ipc, uts, user,
	// cgroup) that the environment promises to have for itself, or to share
	// with the host.
	Own, Shared []string
	// Skip names checks that make no sense for this engine, with the reason.
	Skip map[string]string
	// Only names the checks that are tried, beside those of opening and closing,
	// for a configuration that differs little from another (Variant); nil means all.
	Only []string
	// Limit is the time limit of a trial; 0 means a minute.
	Limit time.Duration
	// Hang is the time limit of the trial that hangs, long enough for the
	// engine to bring the payload up; 0 means 3 s.
	Hang time.Duration
	// Grace is between SIGTERM and SIGKILL for a payload that ignores the
	// first; 0 means 1 s, the least that most engines know.
	Grace time.Duration
	// HidesSignals says why an end by a signal can't be told from an exit
	// status of the payload's: the engine turns one into the other.
	HidesSignals string
	// LosesTail says why the engine itself may lose the end of much output when
	// the machine is busy.
	LosesTail string
	// Races tells the engine's own words where a start of its fails because another
	// container of its goes meanwhile: of several at once, such a one is tried again.
	Races *regexp.Regexp
	// Removes: the client comes back only when the container is removed, so
	// that nobody sees the container's own end in a trial.
	Removes bool
	// MustOpen: fail, and do not skip, where the environment is unavailable.
	MustOpen bool
}

// Variant is Options.Only for a configuration that differs from one that goes
// through everything in an option or two, which the proof of every Open reads
// back: what depends on how a container is made and ended.
var Variant = []string{"trials", "stop handled", "hang", "isolation", "held", "exec", "mounts"}

// Conformance puts one configuration of an engine through everything.
func Conformance(t *testing.T, e engine.Engine, levels map[string]string, opts Options) {
	t.Helper()
	if !e.Info().Simulated {
		Real(t)
	}
	s := &suite{engine: e, opts: opts, kit: opts.Kit}
	if s.kit == nil {
		s.kit, levels = withBuilds(t, Kit(t), e, levels)
	}
	s.opts.Limits = cmp.Or(s.opts.Limits, &engine.Limits{CPUs: 1, MemoryBytes: 256 << 20})
	s.opts.Limit = child.Stretch(cmp.Or(s.opts.Limit, time.Minute))
	s.opts.Grace = cmp.Or(s.opts.Grace, time.Second)
	s.opts.Hang = child.Stretch(cmp.Or(s.opts.Hang, 3*time.Second))
	s.spec = engine.Spec{ID: "conformance", Levels: levels, Limits: *s.opts.Limits}

	s.detect(t)
	defer plantFor(t, e, s).Check()
	ctx, cancel := child.Within(t.Context(), 2*time.Minute)
	defer cancel()
	env, err := e.Open(ctx, s.kit, s.spec)
	if err != nil {
		if c := class(err); !opts.MustOpen && (c == record.Unavailable || c == record.Unsupported) {
			checkGone(t, s)
			t.Skipf("can't be had here: %v", err)
		}
		t.Fatalf("Open: %v", err)
	}
	s.env = env
	closed := false
	t.Cleanup(func() {
		if !closed {
			s.waited()
			s.closeBox(t)
			_ = env.Close(context.WithoutCancel(ctx))
		}
	})
	s.facts(t)
	s.images(t)
	s.wait(t)
	for _, c := range checks {
		if s.wanted(c.name) {
			s.check(t, c.name, c.run)
		}
	}
	for _, name := range s.opts.Only {
		if !slices.Contains([]string{forgotten, missing, cancelled}, name) && !slices.ContainsFunc(checks, func(c check) bool { return c.name == name }) {
			t.Errorf("Options.Only: there is no check %q", name)
		}
	}
	s.waited() // also where -run left the checks out that wait for them
	s.closeBox(t)
	// The time to open is over by now where the checks were many, or slow.
	ctx, cancel = child.Within(t.Context(), 2*time.Minute)
	defer cancel()
	if err := env.Close(ctx); err != nil {
		t.Errorf("Close: %v", err)
	}
	closed = true
	facts := env.Facts()
	defer func() {
		if !t.Failed() {
			s.noteTested(t, facts)
		}
	}()
	if err := env.Close(ctx); err != nil {
		t.Errorf("Close for the second time: %v", err)
	}
	// Each opens an environment of its own.
	for _, c := range []check{{forgotten, (*suite).forgotten}, {missing, (*suite).missingImage}, {cancelled, (*suite).cancelled}} {
		if s.wanted(c.name) {
			s.check(t, c.name, c.run)
		}
	}
	checkGone(t, s)
}

const (
	missing   = "missing image"
	cancelled = "cancelled"
)

type check struct {
	name string
	run  func(*suite, *testing.T)
}

// checks are tried in this order on one open environment.
var checks = []check{
	{"trials", (*suite).trials},
	{"exit status", (*suite).exitStatus},
	{"stop handled", (*suite).stopHandled},
	{"stop ignored", (*suite).stopIgnored},
	{"hang", (*suite).hang},
	{"after hang", (*suite).afterHang},
	{"isolation", (*suite).isolation},
	{"limits", (*suite).limits},
	{"memory of a task", (*suite).memory},
	{"clock", (*suite).clock},
	{"tools", (*suite).tools},
	{"held", (*suite).held},
	{"held ends by itself", (*suite).heldEnds},
	{"hold fails", (*suite).holdFails},
	{"silent", (*suite).silent},
	{"held out of memory", (*suite).heldOutOfMemory},
	{"exec", (*suite).exec},
	{"commands", (*suite).commands},
	{"at once", (*suite).atOnce},
	{"mounts", (*suite).mounts},
	{"beside", (*suite).beside},
	{"address", (*suite).address},
	{"daemons", (*suite).daemons},
}

type suite struct {
	engine engine.Engine
	kit    *engine.Kit
	spec   engine.Spec
	opts   Options
	env    engine.Environment
	box    engine.Environment // with the image busybox; see busybox
	server *server            // held in box; see serve
	waits  map[string]*waiting
	n      int
}

// tried says whether a check of an open environment is tried.
func (s *suite) tried(name string) bool { return s.wanted(name) && s.opts.Skip[name] == "" }

func (s *suite) wanted(name string) bool {
	return s.opts.Only == nil || slices.Contains(s.opts.Only, name)
}

func (s *suite) check(t *testing.T, name string, run func(*suite, *testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		if why := s.opts.Skip[name]; why != "" {
			t.Skip(why)
		}
		run(s, t)
	})
}

func (s *suite) detect(t *testing.T) engine.Detection {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), engine.DetectLimit)
	defer cancel()
	began := time.Now()
	d := s.engine.Detect(ctx, s.kit)
	t.Logf("Detect took %v: %+v", time.Since(began).Round(time.Millisecond), d)
	if !d.Usable {
		if d.Reason == "" {
			t.Error("Detect: not usable, and no reason is given")
		}
		if s.opts.MustOpen {
			t.Fatalf("not usable: %s", d.Reason)
		}
		t.Skipf("not usable here: %s (try: %s)", d.Reason, d.Fix)
	}
	if d.Version == "" {
		t.Error("Detect: usable, and no version is given")
	}
	for factor, names := range s.engine.Info().Levels {
		if len(names) == 0 {
			t.Errorf("Info: the factor %s has no levels", factor)
		}
		found := map[string]bool{}
		for _, l := range d.Levels[factor] {
			found[l.Name] = true
			if !l.Usable && l.Reason == "" {
				t.Errorf("Detect: %s=%s is not usable, and no reason is given", factor, l.Name)
			}
		}
		for _, n := range names {
			if !found[n] {
				t.Errorf("Detect says nothing about %s=%s, which Info names", factor, n)
			}
		}
	}
	for factor, want := range s.spec.Levels {
		for _, l := range d.Levels[factor] {
			if l.Name == want && !l.Usable {
				if s.opts.MustOpen {
					t.Fatalf("%s=%s is not usable: %s", factor, want, l.Reason)
				}
				t.Skipf("%s=%s is not usable here: %s (try: %s)", factor, want, l.Reason, l.Fix)
			}
		}
	}
	return d
}

func (s *suite) facts(t *testing.T) {
	t.Helper()
	facts := s.env.Facts()
	t.Logf("facts: %v", facts)
	if len(facts) == 0 {
		t.Error("Facts: there are none")
	}
	for _, key := range []string{"version", "limits"} {
		if facts[key] == "" {
			t.Errorf("Facts: %q is missing", key)
		}
	}
}

// task makes a trial with a name of its own.
func (s *suite) task(args *probe.PayloadArgs) engine.Task {
	s.n++
	args.Word = adapter.Word()
	return engine.Task{Name: adapter.Name(s.kit.RunID, fmt.Sprintf("t%d", s.n), args.Word[:6]),
		Argv: args.Argv(image.ProbePath), Limit: s.opts.Limit}
}

// run carries a trial through that must not fail.
func (s *suite) run(t *testing.T, task engine.Task) engine.Result {
	t.Helper()
	res, err := s.env.Run(t.Context(), task)
	return succeeded(t, res, err)
}

// succeeded is the result of a trial that must not fail.
func succeeded(t *testing.T, res engine.Result, err error) engine.Result {
	t.Helper()
	if err != nil {
		t.Fatalf("Run: %v", err)
	}
	if res.Failure != nil {
		t.Fatalf("the trial failed: %s: %s (stderr %q)", res.Failure.Class, res.Failure.Text, res.Stderr)
	}
	return res
}

// prove reads the payload's answer.
func prove(t *testing.T, res engine.Result, word string) probe.Payload {
	t.Helper()
	p, err := probe.ParsePayload(res.Stdout, word)
	if err != nil {
		t.Fatalf("no proof: %v (exit status %v, stdout %q, stderr %q)", err, show(res.Exit), res.Stdout, res.Stderr)
	}
	return p
}
