package lxd

import (
	"flag"
	"os"
	"testing"
	"time"

	"plimsoll/internal/engine"
	"plimsoll/internal/engine/enginetest"
)

// TestMain lets more tests run at once than there are processors: they wait
// for most of their time, for half a second after each stop (see hooks).
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "5"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// TestConformance puts both engines through everything, against the daemons
// that are there.
func TestConformance(t *testing.T) {
	own := []string{"mnt", "pid", "net", "ipc", "uts", "user", "cgroup"}
	for _, c := range []struct {
		name   string
		engine func() *Engine
		levels map[string]string
	}{
		{"lxd dir", New, map[string]string{engine.Storage: "dir", engine.Network: "none"}},
		{"lxd btrfs", New, map[string]string{engine.Storage: "btrfs"}},
		{"incus dir", NewIncus, map[string]string{engine.Storage: "dir"}},
		{"lxd cli", New, map[string]string{engine.Client: "cli", engine.Storage: "btrfs", engine.Network: "none"}},
		{"incus btrfs", NewIncus, map[string]string{engine.Storage: "btrfs", engine.Network: "none"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			enginetest.Conformance(t, c.engine(), c.levels, enginetest.Options{Own: own, Hang: 3 * time.Second})
		})
	}
}
