package lxc

import (
	"flag"
	"os"
	"testing"

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

func TestConformance(t *testing.T) {
	own := []string{"mnt", "pid", "ipc", "uts", "cgroup"}
	for _, c := range []struct {
		name   string
		levels map[string]string
		opts   enginetest.Options
	}{
		{"steps", map[string]string{engine.Network: "none"}, enginetest.Options{Own: append([]string{"net"}, own...), Shared: []string{"user"}}},
		{"steps overlay host", map[string]string{engine.Storage: "overlay", engine.Network: "host"},
			enginetest.Options{Own: own, Shared: []string{"net", "user"}, Only: enginetest.Variant}},
		{"bridge", nil, enginetest.Options{Own: append([]string{"net"}, own...), Shared: []string{"user"},
			Only: append([]string{"at once", "beside", "address"}, enginetest.Variant...)}},
		{"execute", map[string]string{engine.Client: "execute", engine.Network: "none"},
			enginetest.Options{Own: append([]string{"net"}, own...), Shared: []string{"user"}, Removes: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			enginetest.Conformance(t, New(), c.levels, c.opts)
		})
	}
}

// Both clients leave out and add the same, as far as each can.
func TestMechanisms(t *testing.T) {
	for client, but := range map[string][]string{bySteps: {engine.Rlimits, engine.OOMScore}, byExecute: nil} {
		t.Run(client, func(t *testing.T) {
			enginetest.Mechanisms(t, New(), map[string]string{engine.Client: client, engine.Network: "host", engine.Seccomp: "off"}, but...)
		})
	}
}
