package baseline_test

import (
	"testing"
	"time"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/baseline"
	"plimsoll/internal/measure/engine/enginetest"
)

// A baseline needs milliseconds.
const (
	hang  = 500 * time.Millisecond
	grace = 300 * time.Millisecond
)

var all = []string{"mnt", "pid", "net", "ipc", "uts", "user", "cgroup"}

func TestHost(t *testing.T) {
	t.Parallel()
	enginetest.Conformance(t, baseline.Host{}, nil, enginetest.Options{Shared: all, MustOpen: true, Hang: hang, Grace: grace,
		Skip: map[string]string{"tools": "the host has its own programs, not the image's"}})
}

func TestNative(t *testing.T) {
	t.Parallel()
	enginetest.Conformance(t, baseline.Native{}, nil, enginetest.Options{Own: all[:1], Shared: all[1:], Hang: hang, Grace: grace})
}

func TestFloor(t *testing.T) {
	t.Parallel()
	t.Run("none", func(t *testing.T) {
		enginetest.Conformance(t, baseline.Floor{}, nil, enginetest.Options{
			Own: []string{"mnt", "pid", "net", "ipc", "uts"}, MustOpen: true, Hang: hang, Grace: grace})
	})
	t.Run("host", func(t *testing.T) {
		enginetest.Conformance(t, baseline.Floor{}, map[string]string{engine.Network: "host"}, enginetest.Options{
			Own: []string{"mnt", "pid", "ipc", "uts"}, Shared: []string{"net"}, MustOpen: true, Hang: hang, Grace: grace})
	})
}
