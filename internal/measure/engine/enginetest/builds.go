package enginetest

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/record"
)

// buildsVariable names the builds that engines are tested with instead of the machine's own
// programs and daemons: PROGRAM:NAME=FILE or PROGRAM:NAME=unix://SOCKET, as the lab's engines
// print them.
const buildsVariable = "PLIMSOLL_TEST_BUILDS"

// withBuilds returns the kit of an environment that runs those of buildsVariable that are builds
// of the programs that the engine runs at these levels, and the levels. A runtime is named, since
// only then an engine runs a build of it.
func withBuilds(t testing.TB, kit *engine.Kit, e engine.Engine, levels map[string]string) (*engine.Kit, map[string]string) {
	t.Helper()
	known := slices.DeleteFunc(engine.AllPrograms([]engine.Engine{e}), func(p engine.Program) bool { return !p.RunsAt(levels) })
	builds, bad := buildsOf(os.Getenv(buildsVariable), known)
	if bad != "" {
		t.Fatalf("%s: %q is not PROGRAM:NAME=FILE or PROGRAM:NAME=unix://SOCKET", buildsVariable, bad)
	}
	kit.AllBuilds = builds
	return kit.With(builds), withRuntime(e.Info(), levels, builds)
}

// withRuntime names the first of the builds that is one of a runtime, where the levels name none.
func withRuntime(info engine.Info, levels map[string]string, builds []record.Build) map[string]string {
	i := slices.IndexFunc(builds, func(b record.Build) bool { return slices.Contains(info.Levels[engine.Runtime], b.Program) })
	if i < 0 || levels[engine.Runtime] != "" {
		return levels
	}
	named := map[string]string{engine.Runtime: builds[i].Program}
	maps.Copy(named, levels)
	return named
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
