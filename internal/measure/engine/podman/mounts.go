package podman

import (
	"fmt"
	"strconv"
	"strings"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/record"
)

// named is a held container of this package: what another one can be put
// beside.
type named interface{ containerName() string }

// impossible says what of a task this environment can't do.
func (env *environment) impossible(task engine.Task) *record.Failure {
	no := func(format string, args ...any) *record.Failure {
		return &record.Failure{Class: record.Unsupported, Text: fmt.Sprintf(format, args...)}
	}
	for _, m := range task.Mounts {
		switch m.Kind {
		case engine.Bind, engine.Volume, engine.Tmpfs:
		default:
			return no("podman has no mount of the kind %q", m.Kind)
		}
	}
	if task.Beside == nil {
		return nil
	}
	if _, ok := task.Beside.(named); !ok {
		return no("a container can be put beside another one of podman only")
	}
	facts := env.Facts()
	if strings.HasPrefix(facts["kernel"], "foreign") {
		return no("with the runtime %s each container has a network stack of its own, which no other can share", facts["runtime"])
	}
	return nil
}

// networkOf is the network of a task's container; empty: not named.
func (s settings) networkOf(task engine.Task) string {
	if other, ok := task.Beside.(named); ok {
		return "container:" + other.containerName()
	}
	return s.network
}

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
