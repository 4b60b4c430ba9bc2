package engine

import (
	"path"
	"slices"
	"strings"
)

// runtimeFacts are the facts by which environments say what makes their containers: a
// name, a type, a program or a shim.
var runtimeFacts = []string{Runtime, "runtime-type", "runtime-program", "runtime-path", "shim"}

// UntriedRuntime says whether an environment's facts name one of these levels, which were
// never run on the real system. Where a study names no runtime it is the engine's default,
// and who reads the times has to know it as if it were named. A level is a part of what
// the engine calls it: of a name with a suffix, a type with a version, a shim's path.
func UntriedRuntime(untried []string, facts map[string]string) bool {
	for _, fact := range runtimeFacts {
		parts := strings.FieldsFunc(path.Base(facts[fact]), func(r rune) bool { return r == '.' || r == '-' })
		if slices.ContainsFunc(parts, func(p string) bool { return slices.Contains(untried, p) }) {
			return true
		}
	}
	return false
}
