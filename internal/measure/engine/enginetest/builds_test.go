package enginetest

import (
	"testing"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/record"
)

// TestBuildsOf: of what is named, an engine is tested with the builds of its own programs; what
// is no build ends the test, instead of testing the machine's own.
func TestBuildsOf(t *testing.T) {
	known := []engine.Program{{Name: "the-daemon"}, {Name: "the-runtime"}}
	builds, bad := buildsOf(" the-daemon:2=unix:///run/s.sock\nthe-runtime:1.5=/opt/r other:1=/opt/o", known)
	if bad != "" || len(builds) != 2 || builds[0].Socket != "/run/s.sock" || builds[1].Path != "/opt/r" || builds[1].Socket != "" {
		t.Errorf("%+v, %q", builds, bad)
	}
	for _, text := range []string{"the-daemon", "the-daemon=/opt/d", "the-daemon:2=opt/d", "the-daemon:2=unix://s"} {
		if _, bad := buildsOf(text, known); bad != text {
			t.Errorf("%q is taken for a build", text)
		}
	}
}

// TestWithRuntime: a build of a runtime is run where the levels name no other.
func TestWithRuntime(t *testing.T) {
	info := engine.Info{Levels: map[string][]string{engine.Runtime: {engine.DefaultLevel, "the-runtime", "another"}}}
	builds := []record.Build{{Program: "the-daemon"}, {Program: "the-runtime"}, {Program: "another"}}
	for _, c := range []struct {
		levels map[string]string
		builds []record.Build
		want   string
	}{
		{nil, builds, "the-runtime"},
		{map[string]string{engine.Network: "none"}, builds, "the-runtime"},
		{map[string]string{engine.Runtime: "another"}, builds, "another"},
		{nil, builds[:1], ""},
	} {
		if got := withRuntime(info, c.levels, c.builds); got[engine.Runtime] != c.want || got[engine.Network] != c.levels[engine.Network] {
			t.Errorf("of %v with %v it is %v", c.levels, c.builds, got)
		}
	}
}
