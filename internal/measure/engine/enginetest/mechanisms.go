package enginetest

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/common/dataimage"
	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/image"
	"plimsoll/internal/measure/probe"
)

// omitted are the namespaces that are the host's where a mechanism is left out.
var omitted = map[string]string{
	engine.PIDNamespace: "pid", engine.UTSNamespace: "uts", engine.IPCNamespace: "ipc",
	engine.CgroupNamespace: "cgroup", engine.UserNamespace: "user",
}

// unseen leave nothing to be seen from inside: they are taken on the option's word,
// or on the engine's.
var unseen = []string{engine.PivotRoot, engine.Keyring, engine.OwnCgroup, engine.GroupMaking,
	engine.LogFile, engine.Journal, engine.HealthCheck, engine.PublishedPort, engine.PrivateTmp, engine.Contained}

// Mechanisms leaves out everything that the real engine can do without, at once, and
// then adds everything that it can also do, with these levels, but for what is
// named; and demands that a container runs, that it comes to what was asked for, and
// that nothing is left. What is there by default must not pass for left out, nor what
// is not for added.
func Mechanisms(t *testing.T, e engine.Engine, levels map[string]string, but ...string) {
	t.Helper()
	Real(t)
	s, levels := suiteOf(t, e, levels)
	s.spec = engine.Spec{ID: "mechanisms", Levels: map[string]string{}}
	maps.Copy(s.spec.Levels, levels)
	d := s.detect(t)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	plain := s.opened(ctx, t)
	for _, factor := range engine.Joined {
		var names []string
		for _, m := range e.Info().Mechanisms {
			i := slices.IndexFunc(d.Levels[factor], func(l engine.Level) bool { return l.Name == m.To && l.Usable })
			if m.Factor == factor && i >= 0 && !slices.Contains(but, m.Name) {
				names = append(names, m.To)
			}
		}
		if factor == engine.Without && len(names) == 0 {
			t.Fatal("nothing can be left out")
		}
		if len(names) > 0 {
			s.changed(ctx, t, factor, names, plain)
		}
	}
	checkGone(t, s)
}

// suiteOf is the suite of a check that opens its own environments, and the levels for them.
func suiteOf(t *testing.T, e engine.Engine, levels map[string]string) (*suite, map[string]string) {
	t.Helper()
	kit, levels := withBuilds(t, Kit(t), e, levels)
	return &suite{engine: e, kit: kit, opts: Options{Limit: time.Minute, Hang: 3 * time.Second, Grace: time.Second}}, levels
}

// changed holds an environment without what is named, or with it, against a plain one.
func (s *suite) changed(ctx context.Context, t *testing.T, factor string, names []string, plain map[string]string) {
	t.Helper()
	was := s.spec
	s.spec.Levels = maps.Clone(was.Levels)
	s.spec.Levels[factor] = strings.Join(names, engine.And)
	s.spec = s.spec.Limiting()
	report := s.opened(ctx, t)
	s.spec = was
	for _, m := range names {
		if ns, ok := omitted[m]; ok && report["ns."+ns] == "" {
			t.Errorf("the payload says nothing of its %s namespace", ns)
		}
		one := engine.Spec{Levels: map[string]string{factor: m}}
		if err := adapter.JudgeOmitted(one, report); err != nil {
			t.Error(err)
		}
		if !slices.Contains(unseen, m) && adapter.JudgeOmitted(one, plain) == nil {
			t.Errorf("a plain container passes for one %s %s", factor, m)
		}
	}
}

// opened is what the payload sees in an environment that is opened for it alone.
func (s *suite) opened(ctx context.Context, t *testing.T) map[string]string {
	t.Helper()
	env, err := s.engine.Open(ctx, s.kit, s.spec)
	if err != nil {
		t.Fatalf("Open %v: %v", s.spec.Levels, err)
	}
	defer func() {
		if err := env.Close(context.WithoutCancel(ctx)); err != nil {
			t.Errorf("Close: %v", err)
		}
	}()
	s.env = env
	return s.report(t)
}

// Layers starts a container of an image of ten layers, whose adapter proves that they
// are still there.
func Layers(t *testing.T, e engine.Engine, levels map[string]string) {
	t.Helper()
	Real(t)
	s, levels := suiteOf(t, e, levels)
	s.spec = engine.Spec{ID: "layers", Levels: maps.Clone(levels)}
	s.spec.Levels[engine.Image] = engine.Layered()[0].To
	s.detect(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	report := s.opened(ctx, t)
	if report["root.fs"] != "overlay" {
		t.Skipf("the container's file system is %s, which reveals nothing of layers", report["root.fs"])
	}
	flat := maps.Clone(report)
	flat["root.options"] = "lowerdir=/one,upperdir=/two"
	if adapter.JudgeLayers(s.spec, report) != nil || adapter.JudgeLayers(s.spec, flat) == nil {
		t.Errorf("of ten layers the payload saw %s", report["root.options"])
	}
	checkGone(t, s)
}

// Filled starts containers of the images that are filled. The program in the one of many
// files reads as many as its name says.
func Filled(t *testing.T, e engine.Engine, levels map[string]string) {
	t.Helper()
	Real(t)
	for _, m := range engine.Filled() {
		t.Run(m.Name, func(t *testing.T) {
			s, levels := suiteOf(t, e, levels)
			s.spec = engine.Spec{ID: "filled", Levels: maps.Clone(levels)}
			s.spec.Levels[engine.Image] = m.To
			s.detect(t)
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			if of, _ := dataimage.Parse(m.To); of.Kind == dataimage.Files {
				s.reads(ctx, t, of.Size)
			} else {
				s.opened(ctx, t)
			}
			checkGone(t, s)
		})
	}
}

// reads runs the program that lies beside an image's files.
func (s *suite) reads(ctx context.Context, t *testing.T, files string) {
	t.Helper()
	env, err := s.engine.Open(ctx, s.kit, s.spec)
	require.NoError(t, err)
	args := probe.TaskArgs{Word: adapter.Word(), Dir: image.WorkDir, Steps: []probe.TaskStep{{Kind: probe.TaskMain, Argv: []string{"/data/read-lines", "/data/files"}}}}
	argv, err := args.Argv(image.ProbePath)
	require.NoError(t, err)
	res, err := env.Run(ctx, engine.Task{Name: adapter.Name(s.kit.RunID, "filled", adapter.Word()[:6]), Limit: time.Minute, Argv: argv})
	if want := files + " lines in " + files + " files"; err != nil || res.Failure != nil || !strings.Contains(string(res.Stdout), want) {
		t.Errorf("%v, %+v: %s%s, want %s", err, res.Failure, res.Stdout, res.Stderr, want)
	}
	require.NoError(t, env.Close(context.WithoutCancel(ctx)))
}
