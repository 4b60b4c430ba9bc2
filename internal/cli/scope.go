//go:build linux

package cli

import (
	"context"
	"os"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/internal/measure/child"
	"plimsoll/internal/measure/engine/cgroup"
	"plimsoll/internal/measure/host"
	"plimsoll/internal/measure/host/proc"
)

// An ordinary user's session is in a control group of root's, where nothing can be limited,
// while that one's own manager of services hands groups down: Podman is limited by it, and
// what Plimsoll starts itself is not. So a command that measures starts itself anew in a
// scope of that manager, which ends with it.

// inScope is set in the environment of what is in such a scope.
const inScope = "PLIMSOLL_SCOPE"

// scoped lets every command that measures begin in a scope where it needs one.
func scoped(w World, c *cobra.Command) {
	if c.Flags().Lookup("wait") != nil && c.RunE != nil && c.Name() != "clean" { // it takes a turn: it measures
		run := c.RunE
		c.RunE = func(cmd *cobra.Command, args []string) error {
			if !cmd.Flags().Changed("on") { // it measures here
				enterScope(w)
			}
			return run(cmd, args)
		}
	}
	for _, sub := range c.Commands() {
		scoped(w, sub)
	}
}

// enterScope replaces this program by itself in a scope of the user's manager. It returns
// where that is not needed or can't be: then what can't be limited is said with the result.
func enterScope(w World) {
	if w.Replace == nil || os.Geteuid() == 0 || w.Getenv(inScope) != "" || !proc.SystemdRuns() || cgroup.Hindrance() == "" ||
		host.UserBus(host.RuntimeDir(w.Getenv)) == "" {
		return
	}
	program, err := w.LookPath("systemd-run")
	if err != nil {
		return
	}
	itself, err := os.Executable()
	if err != nil {
		return
	}
	argv := []string{program, "--user", "--scope", "--property=Delegate=yes", "--quiet", "--collect", "--"}
	if _, err := child.Run(context.Background(), child.Command{Argv: append(argv, "true"), Limit: scopeLimit}); err != nil {
		return
	}
	_ = w.Replace(program, append(append(argv, itself), w.Args...), append(os.Environ(), inScope+"=1")) // it returns only where it failed
}

// scopeLimit is how long a user's manager may take to make a scope.
const scopeLimit = 10 * time.Second
