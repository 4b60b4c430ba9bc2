package apptainer

import (
	"testing"
	"time"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/enginetest"
)

func TestApptainer(t *testing.T) {
	shared := []string{"pid", "net", "ipc", "uts", "cgroup"}
	opts := enginetest.Options{Hang: 1500 * time.Millisecond, Grace: 300 * time.Millisecond}
	for _, c := range []struct {
		name, storage, rootless, network string
		own, shared                      []string
	}{
		{"sif", "sif", "no", "", []string{"mnt"}, append(shared, "user")},
		{"sandbox", "sandbox", "no", "", []string{"mnt"}, append(shared, "user")},
		{"sif userns", "sif", "yes", "", []string{"mnt", "user"}, shared},
		{"sandbox userns", "sandbox", "yes", "", []string{"mnt", "user"}, shared},
		{"docker archive", byArchive, "no", "", []string{"mnt"}, append(shared, "user")},
		{"no network", "sandbox", "no", "none", []string{"mnt", "net"}, []string{"pid"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			opts := opts
			opts.Own, opts.Shared = c.own, c.shared
			levels := map[string]string{engine.Storage: c.storage, engine.Rootless: c.rootless}
			if c.network != "" {
				levels[engine.Network] = c.network
			}
			enginetest.Conformance(t, New(), levels, opts)
		})
	}
}

func TestParseVersion(t *testing.T) {
	for in, want := range map[string]string{
		"apptainer version 1.4.5\n":          "1.4.5",
		"singularity-ce version 4.1.0-1.el9": "4.1.0-1.el9",
		"":                                   "",
	} {
		if got := parseVersion(in); got != want {
			t.Errorf("parseVersion(%q) = %q, want %q", in, got, want)
		}
	}
}
