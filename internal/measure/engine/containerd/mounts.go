package containerd

import (
	"strconv"

	specs "github.com/opencontainers/runtime-spec/specs-go"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/record"
)

// refuseMounts: containerd mounts what its clients describe, and has no volumes.
func refuseMounts(list []engine.Mount) *record.Failure {
	for _, m := range list {
		if m.Kind != engine.Bind && m.Kind != engine.Tmpfs {
			return &record.Failure{Class: record.Unsupported,
				Text: "containerd has no mount of the kind " + string(m.Kind) + ": volumes are its managers' work"}
		}
	}
	return nil
}

// mounts are those of a container's configuration, with Docker's options.
func mounts(list []engine.Mount) []specs.Mount {
	var all []specs.Mount
	for _, m := range list {
		if m.Kind == engine.Bind {
			all = append(all, specs.Mount{Type: "bind", Source: m.Source, Destination: m.Target, Options: []string{"rbind", "rprivate", "rw"}})
			continue
		}
		options := []string{"nosuid", "nodev"}
		if m.SizeBytes > 0 {
			options = append(options, "size="+strconv.FormatInt(m.SizeBytes, 10))
		}
		all = append(all, specs.Mount{Type: "tmpfs", Source: "tmpfs", Destination: m.Target, Options: options})
	}
	return all
}
