package adapter

import (
	"fmt"
	"strings"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/record"
)

// named is a held container whose namespaces another one of its engine can share, by
// its name.
type named interface{ ContainerName() string }

// NetworkOf is the network of a task's container, as engines with Docker's options
// take it: that of the one beside it, or own.
func NetworkOf(task engine.Task, own string) string {
	if other, ok := task.Beside.(named); ok {
		return "container:" + other.ContainerName()
	}
	return own
}

// Impossible says what of a task an engine with Docker's options can't do.
func Impossible(title string, task engine.Task, facts *FactSheet) *record.Failure {
	no := func(format string, args ...any) *record.Failure {
		return &record.Failure{Class: record.Unsupported, Text: fmt.Sprintf(format, args...)}
	}
	for _, m := range task.Mounts {
		switch m.Kind {
		case engine.Bind, engine.Volume, engine.Tmpfs:
		default:
			return no("%s has no mount of the kind %q", title, m.Kind)
		}
	}
	if task.Beside == nil {
		return nil
	}
	if _, ok := task.Beside.(named); !ok {
		return no("a container can share another one's namespaces only with %s", title)
	}
	if strings.HasPrefix(facts.Fact("kernel"), "foreign") {
		return no("with the runtime %s each container has a network stack of its own, which no other can share", facts.Fact("runtime"))
	}
	return nil
}
