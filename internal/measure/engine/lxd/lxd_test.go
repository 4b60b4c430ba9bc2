package lxd

import (
	"flag"
	"os"
	"testing"
	"time"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/enginetest"
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
	// What the storage and the client matter for: the rest is the first's.
	some := []string{"trials", "exit status", "stop handled", "hang", "isolation", "held", "exec", "mounts", "address"}
	for _, c := range []struct {
		name   string
		engine func() *Engine
		levels map[string]string
		only   []string
	}{
		{"lxd dir", New, map[string]string{engine.Storage: "dir", engine.Network: "none"}, nil},
		{"lxd btrfs", New, map[string]string{engine.Storage: "btrfs"}, some},
		{"incus dir", NewIncus, map[string]string{engine.Storage: "dir"}, nil},
		{"lxd cli", New, map[string]string{engine.Client: "cli", engine.Storage: "btrfs", engine.Network: "none"}, some},
		{"incus btrfs", NewIncus, map[string]string{engine.Storage: "btrfs", engine.Network: "none"}, some},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			enginetest.Conformance(t, c.engine(), c.levels, enginetest.Options{Own: own, Hang: 3 * time.Second, Only: c.only, Limit: time.Minute})
		})
	}
}

// Both clients of both engines leave out and add the same: one after the other, since
// all runs of one LXD share an image's file, which may go with the first run that ends.
func TestMechanisms(t *testing.T) {
	for name, c := range map[string]struct {
		engine func() *Engine
		client string
	}{"lxd api": {New, "api"}, "lxd cli": {New, "cli"}, "incus api": {NewIncus, "api"}} {
		t.Run(name, func(t *testing.T) {
			enginetest.Mechanisms(t, c.engine(), map[string]string{engine.Client: c.client, engine.Network: "none",
				engine.Privileged: "yes", engine.Seccomp: "off"})
		})
	}
}
