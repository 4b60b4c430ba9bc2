package enginetest

import (
	"os"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/record"
)

// BuildsVariable names the builds that engines are tested with instead of the machine's own
// programs and daemons: PROGRAM:NAME=FILE or PROGRAM:NAME=unix://SOCKET, as the lab's engines
// print them.
const BuildsVariable = "PLIMSOLL_TEST_BUILDS"

// withBuilds returns the kit of an environment that runs those of BuildsVariable that are builds
// of the engine's programs.
func withBuilds(t testing.TB, kit *engine.Kit, e engine.Engine) *engine.Kit {
	t.Helper()
	builds, bad := buildsOf(os.Getenv(BuildsVariable), engine.AllPrograms([]engine.Engine{e}))
	if bad != "" {
		t.Fatalf("%s: %q is not PROGRAM:NAME=FILE or PROGRAM:NAME=unix://SOCKET", BuildsVariable, bad)
	}
	kit.AllBuilds = builds
	return kit.With(builds)
}

func buildsOf(text string, known []engine.Program) (builds []record.Build, bad string) {
	for _, one := range strings.Fields(text) {
		name, path, _ := strings.Cut(one, "=")
		program, level, _ := strings.Cut(name, ":")
		socket, joins := strings.CutPrefix(path, "unix://")
		if level == "" || !strings.HasPrefix(path, "/") && !strings.HasPrefix(socket, "/") {
			return nil, one
		}
		if !slices.ContainsFunc(known, func(p engine.Program) bool { return p.Name == program }) {
			continue
		}
		b := record.Build{Program: program, Level: level, Path: path}
		if joins {
			b.Socket, b.Path = socket, program
		}
		builds = append(builds, b)
	}
	return builds, ""
}
