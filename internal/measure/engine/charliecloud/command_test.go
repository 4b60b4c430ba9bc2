package charliecloud

import (
	"slices"
	"testing"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/clirun"
)

// A task's TMPDIR is the container's: in ch-run's own environment it would be
// the host's directory that is mounted there as /tmp.
func TestTmpdirIsTheContainers(t *testing.T) {
	e := &environment{path: "ch-run", image: "/image", Base: &clirun.Base{}}
	c := e.command(engine.Task{Argv: []string{"/program"}, Env: []string{"TMPDIR=/work", "HOME=/work"}}, "--bind=/a:/work")
	want := []string{"ch-run", "--set-env=TMPDIR=/work", "--bind=/a:/work", "/image", "--", "/program"}
	if !slices.Equal(c.Argv, want) || slices.Contains(c.Env, "TMPDIR=/work") || !slices.Contains(c.Env, "HOME=/work") {
		t.Errorf("%q with %q", c.Argv, c.Env)
	}
}
