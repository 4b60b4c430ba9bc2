package engine

import (
	"path"
	"slices"
	"strings"
)

// runtimeFacts are the facts by which environments say what makes their containers: a
// name, a type, a program or a shim.
var runtimeFacts = []string{"runtime", "runtime-type", "runtime-program", "runtime-path", "shim"}

// ownKernel are the runtimes whose containers have a kernel of their own.
var ownKernel = []string{"kata", "runsc"}

// UntriedRuntime says whether an environment's facts name a runtime that gives containers
// a kernel of their own and was never run with this engine. Where a study names no runtime
// it is the engine's default, and who reads the times has to know it as if it were named.
func (i Info) UntriedRuntime(facts map[string]string) bool {
	for _, fact := range runtimeFacts {
		for _, kind := range ownKernel {
			if !isRuntime(facts[fact], kind) {
				continue
			}
			return !slices.Contains(i.Levels[Runtime], kind) || slices.Contains(i.Untried[Runtime], kind)
		}
	}
	return false
}

// isRuntime says whether a name, a type or a path is of this kind of runtime: kata,
// kata-qemu, kata-runtime, io.containerd.kata.v2, /usr/bin/containerd-shim-kata-v2.
func isRuntime(called, kind string) bool {
	called = path.Base(called)
	for _, prefix := range []string{"io.containerd.", "containerd-shim-"} {
		called = strings.TrimPrefix(called, prefix)
	}
	rest, ok := strings.CutPrefix(called, kind)
	return ok && (rest == "" || rest[0] == '-' || rest[0] == '.')
}
