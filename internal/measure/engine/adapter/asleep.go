//go:build linux

package adapter

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"plimsoll/internal/measure/child"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/host/proc"
	"plimsoll/internal/record"
)

// Asleep returns an error of class record.Unavailable where the socket at a path belongs
// to a service that does not run and that connecting would start (socket activation), else
// nil: looking at an engine must not start it. title names the engine.
func Asleep(ctx context.Context, kit *engine.Kit, title, socket string) error {
	asleep, err := proc.Here.Asleep(socket)
	if !asleep && !errors.Is(err, fs.ErrPermission) {
		return nil
	}
	user := !kit.Root && strings.HasPrefix(socket, "/run/user/")
	unit, active := activates(ctx, kit, socket, user)
	if !asleep && (unit == "" || active) {
		return nil
	}
	fix := "systemctl start " + unit
	switch {
	case unit == "":
		fix = "start the service that " + socket + " belongs to"
	case user:
		fix = "systemctl --user start " + unit
	}
	return &engine.Error{Class: record.Unavailable, Fix: fix,
		Text: fmt.Sprintf("%s is not running (socket-activated): connecting to %s would start it", title, socket)}
}

// activates asks systemd which unit it starts for a connection to a socket, and whether
// that unit is active; "" where systemd does not listen there or can't be asked.
func activates(ctx context.Context, kit *engine.Kit, socket string, user bool) (unit string, active bool) {
	program, err := kit.LookPath("systemctl")
	if err != nil {
		return "", false
	}
	argv := []string{program}
	if user {
		argv = append(argv, "--user")
	}
	env := []string{Path, "XDG_RUNTIME_DIR=" + kit.Getenv("XDG_RUNTIME_DIR")}
	ask := func(args ...string) string {
		// is-active has a status of its own for each state.
		out, _ := child.Run(ctx, child.Command{Argv: append(slices.Clone(argv), args...), Env: env, Limit: engine.LookLimit})
		return string(out.Stdout)
	}
	names := proc.SocketNames(socket)
	for line := range strings.Lines(ask("list-sockets", "--all", "--full", "--no-legend", "--no-pager")) {
		// LISTEN UNIT ACTIVATES; source: systemctl(1).
		if f := strings.Fields(line); len(f) >= 3 && slices.Contains(names, f[0]) {
			state := strings.TrimSpace(ask("is-active", f[2]))
			return f[2], slices.Contains([]string{"active", "activating", "reloading"}, state)
		}
	}
	return "", false
}
