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
		only                             []string
	}{
		{"sif", "sif", "no", "", []string{"mnt"}, append(shared, "user"), nil},
		{"sandbox", "sandbox", "no", "", []string{"mnt"}, append(shared, "user"), enginetest.Variant},
		{"sif userns", "sif", "yes", "", []string{"mnt", "user"}, shared, enginetest.Variant},
		{"sandbox userns", "sandbox", "yes", "", []string{"mnt", "user"}, shared, nil},
		{"docker archive", byArchive, "no", "", []string{"mnt"}, append(shared, "user"), enginetest.Variant},
		{"no network", "sandbox", "no", "none", []string{"mnt", "net"}, []string{"pid"}, enginetest.Variant},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			opts := opts
			opts.Own, opts.Shared, opts.Only = c.own, c.shared, c.only
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
