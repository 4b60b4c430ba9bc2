package oci_test

import (
	"testing"
	"time"

	"plimsoll/internal/engine"
	"plimsoll/internal/engine/enginetest"
	"plimsoll/internal/engine/oci"
)

var (
	own    = []string{"mnt", "pid", "net", "ipc", "uts", "cgroup"}
	shared = []string{"user"}
)

func conformance(t *testing.T, levels map[string]string, opts enginetest.Options) {
	t.Helper()
	enginetest.Conformance(t, oci.New(), levels, opts)
}

func TestRunc(t *testing.T) { native(t, "runc") }

func TestCrun(t *testing.T) { native(t, "crun") }

func TestYouki(t *testing.T) { native(t, "youki") }

// native tries a runtime that shares the host's kernel.
func native(t *testing.T, runtime string) {
	opts := enginetest.Options{Own: own, Shared: shared, Hang: time.Second, Grace: 300 * time.Millisecond}
	t.Run("steps", func(t *testing.T) {
		conformance(t, map[string]string{engine.Runtime: runtime}, opts)
	})
	t.Run("run", func(t *testing.T) {
		conformance(t, map[string]string{engine.Runtime: runtime, engine.Client: "run"}, opts)
	})
	t.Run("host network", func(t *testing.T) {
		opts := opts
		opts.Own, opts.Shared = []string{"mnt", "pid", "ipc", "uts"}, []string{"net", "user"}
		conformance(t, map[string]string{engine.Runtime: runtime, engine.Network: "host"}, opts)
	})
}

func TestRunsc(t *testing.T) {
	for _, client := range []string{"steps", "run"} {
		t.Run(client, func(t *testing.T) {
			conformance(t, map[string]string{engine.Runtime: "runsc", engine.Client: client}, enginetest.Options{})
		})
	}
}
