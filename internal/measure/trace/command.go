package trace

import (
	"path"
	"regexp"
	"strings"
)

// verbs are what the runtime specification's command line and its kin tell a program
// to do (opencontainers/runtime-tools, docs/command-line-interface.md): options with
// values may stand before them.
var verbs = map[string]bool{
	"create": true, "start": true, "run": true, "exec": true, "delete": true, "kill": true, "state": true,
	"init": true, "features": true, "pause": true, "resume": true, "list": true, "spec": true, "boot": true, "gofer": true,
}

var word = regexp.MustCompile(`^[a-z][a-z-]{1,15}$`)

// command is what a process is called: its program, and what that was told to do.
func command(argv []string) string {
	if len(argv) == 0 {
		return ""
	}
	name := path.Base(strings.TrimPrefix(argv[0], "-"))
	if strings.Contains(name, " ") {
		return name // it has named itself
	}
	if len(argv) > 1 && word.MatchString(argv[1]) {
		return name + " " + argv[1]
	}
	for _, a := range argv[1:] {
		if verbs[a] {
			return name + " " + a
		}
	}
	return name
}
