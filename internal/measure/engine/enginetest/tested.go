package enginetest

import (
	"os"
	"testing"
	"time"

	"plimsoll/internal/common/tested"
	"plimsoll/internal/measure/host"
	"plimsoll/internal/measure/host/proc"
)

// noteTested enters what has passed into the table of tested versions, where
// PLIMSOLL_TESTED names its file. What only some of the checks were made of is entered by
// nobody.
func (s *suite) noteTested(t *testing.T, facts map[string]string) {
	t.Helper()
	path := os.Getenv("PLIMSOLL_TESTED")
	if info := s.engine.Info(); path == "" || info.Simulated || info.Baseline || len(s.opts.Only) > 0 {
		return
	}
	h, err := host.Machine{}.Facts(t.TempDir())
	if err != nil {
		t.Logf("not entered into the table of tested versions: %v", err)
		return
	}
	at := tested.Place{Platform: h.OS, Kernel: h.Kernel, Cgroup: h.Cgroup, Init: "none"}
	if proc.SystemdRuns() {
		at.Init = "systemd"
	}
	if err := tested.Note(path, tested.From(s.engine.Info().Name, facts, at, "conformance", time.Now().UTC().Format(time.DateOnly))...); err != nil {
		t.Error(err)
	}
}
