package enginetest

import (
	"testing"

	"plimsoll/internal/measure/engine"
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
