package podman

import (
	"strconv"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/record"
)

// impossible says what of a task this environment can't do.
func (env *environment) impossible(task engine.Task) *record.Failure {
	return adapter.Impossible("podman", task, &env.FactSheet)
}

// networkOf is the network of a task's container; empty: not named.
func (s settings) networkOf(task engine.Task) string { return adapter.NetworkOf(task, s.network) }

// tmpfsOptions are those of a tmpfs, beside its target. Podman would copy into
// it what the image has at its target.
func tmpfsOptions(m engine.Mount, size string) []string {
	if m.SizeBytes > 0 {
		return []string{size + "=" + strconv.FormatInt(m.SizeBytes, 10), "notmpcopyup"}
	}
	return []string{"notmpcopyup"}
}

// mountArgs are a task's mounts for the command line. A volume has no name, so
// that it goes with its container.
func mountArgs(task engine.Task) []string {
	var args []string
	for _, m := range task.Mounts {
		fields := []string{"type=" + string(m.Kind)}
		switch m.Kind {
		case engine.Bind:
			fields = append(fields, "source="+m.Source)
		case engine.Tmpfs:
			fields = append(fields, tmpfsOptions(m, "tmpfs-size")...)
		}
		args = append(args, "--mount="+adapter.CSV(append(fields, "destination="+m.Target)))
	}
	return args
}

// mount and volume are a task's mounts as containers/create takes them.
type mount struct {
	Type        string   `json:"type"`
	Source      string   `json:"source,omitempty"`
	Destination string   `json:"destination"`
	Options     []string `json:"options,omitempty"`
}

type volume struct {
	Dest        string
	IsAnonymous bool
}

func (c *spec) mount(task engine.Task) {
	for _, m := range task.Mounts {
		switch m.Kind {
		case engine.Bind:
			c.Mounts = append(c.Mounts, mount{Type: "bind", Source: m.Source, Destination: m.Target, Options: []string{"rbind"}})
		case engine.Volume:
			c.Volumes = append(c.Volumes, volume{Dest: m.Target, IsAnonymous: true})
		case engine.Tmpfs:
			c.Mounts = append(c.Mounts, mount{Type: "tmpfs", Source: "tmpfs", Destination: m.Target, Options: tmpfsOptions(m, "size")})
		}
	}
}
