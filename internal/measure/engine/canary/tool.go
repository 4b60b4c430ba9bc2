package canary

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"plimsoll/internal/measure/child"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
)

// tool is a program of a user's: with the environment that it gets, as the user
// where one is given. It can be written into the ledger and run again.
type tool struct {
	Argv []string     `json:"argv"`
	Env  []string     `json:"env"`
	As   *engine.User `json:"as,omitempty"`
	Says string       `json:"says,omitempty"` // what its output has to contain
}

// inherited are the variables, or families of them, by which programs find their
// engine. They are written down: who takes a canary away may have others.
var inherited = []string{"PATH=", "HOME=", "USER=", "TMPDIR=", "XDG_", "DOCKER_", "CONTAINER_HOST=", "CONTAINERD_", "LXD_", "INCUS_"}

// program is a tool with our environment, as far as engines look at it, and env.
func program(argv0 string, env ...string) tool {
	p := tool{Argv: []string{argv0}}
	for _, v := range os.Environ() {
		if slices.ContainsFunc(inherited, func(prefix string) bool { return strings.HasPrefix(v, prefix) }) {
			p.Env = append(p.Env, v)
		}
	}
	p.Env = append(p.Env, env...)
	return p
}

// with is the same program with further arguments.
func (p tool) with(args ...string) tool {
	p.Argv = slices.Concat(p.Argv, args)
	return p
}

// saying is the same command, whose output has to contain a text.
func (p tool) saying(text string) tool {
	p.Says = text
	return p
}

// run runs the command. It is an error that it fails, or says something else.
func (p tool) run(ctx context.Context) error {
	out, err := child.Run(ctx, child.Command{Argv: p.Argv, Env: p.Env, Dir: "/", User: adapter.Credential(p.As), Together: true, Leaves: true})
	text := strings.TrimSpace(string(out.Stdout))
	if err == nil && !strings.Contains(text, p.Says) {
		return fmt.Errorf("%s says %q, and not %q", strings.Join(p.Argv, " "), text, p.Says)
	}
	if err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(p.Argv, " "), err, text)
	}
	return nil
}
