package enginetest

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
)

// omitted are the namespaces that are the host's where a mechanism is left out.
var omitted = map[string]string{
	engine.PIDNamespace: "pid", engine.UTSNamespace: "uts", engine.IPCNamespace: "ipc",
	engine.CgroupNamespace: "cgroup", engine.UserNamespace: "user",
}

// Mechanisms leaves out everything that the real engine can do without, at once,
// with these levels beside it, but for what is named; and demands that a container
// runs, that it comes to what was asked for, and that nothing is left. What is
// there by default must not pass for left out.
func Mechanisms(t *testing.T, e engine.Engine, levels map[string]string, but ...string) {
	t.Helper()
	Real(t)
	s := &suite{engine: e, kit: Kit(t), opts: Options{Limit: time.Minute, Hang: 3 * time.Second, Grace: time.Second}}
	s.spec = engine.Spec{ID: "mechanisms", Levels: map[string]string{}}
	for f, l := range levels {
		s.spec.Levels[f] = l
	}
	d := s.detect(t)
	var out []string
	for _, m := range e.Info().Mechanisms {
		i := slices.IndexFunc(d.Levels[engine.Without], func(l engine.Level) bool { return l.Name == m.To && l.Usable })
		if m.Factor == engine.Without && i >= 0 && !slices.Contains(but, m.Name) {
			out = append(out, m.To)
		}
	}
	if len(out) == 0 {
		t.Fatal("nothing can be left out")
	}
	before := takeCensus(t)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()

	s.spec.Levels[engine.Without] = strings.Join(out, engine.And)
	report := s.opened(ctx, t)
	for _, m := range out {
		if ns, ok := omitted[m]; ok && report["ns."+ns] == "" {
			t.Errorf("the payload says nothing of its %s namespace", ns)
		}
		one := engine.Spec{Levels: map[string]string{engine.Without: m}}
		if err := adapter.JudgeOmitted(one, report); err != nil {
			t.Error(err)
		}
	}

	delete(s.spec.Levels, engine.Without)
	report = s.opened(ctx, t)
	for _, m := range out {
		if m == engine.PivotRoot || m == engine.Keyring || m == engine.SmallMounts || m == engine.OwnCgroup {
			continue // they leave nothing to be seen from inside
		}
		one := engine.Spec{Levels: map[string]string{engine.Without: m}}
		if adapter.JudgeOmitted(one, report) == nil {
			t.Errorf("a container that has its %s passes for one without", m)
		}
	}
	checkGone(t, s, before)
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
