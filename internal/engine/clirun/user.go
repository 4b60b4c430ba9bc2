package clirun

import (
	"fmt"
	"os"

	"plimsoll/internal/engine"
	"plimsoll/internal/probe"
)

// Path is what commands of engines find programs by.
const Path = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// As makes a command that of a user, with that one's environment and nothing
// of ours. A nil user is ourselves, as root.
func As(cmd probe.Command, user *engine.User, kit *engine.Kit) probe.Command {
	if user == nil {
		cmd.Env = append([]string{Path, "HOME=/root", "USER=root", "LOGNAME=root"}, cmd.Env...)
		return cmd
	}
	env := []string{Path, "HOME=" + user.Home, "USER=" + user.Name, "LOGNAME=" + user.Name}
	if user.RuntimeDir != "" {
		env = append(env, "XDG_RUNTIME_DIR="+user.RuntimeDir)
	}
	cmd.Env = append(env, cmd.Env...)
	if kit.Root {
		cmd.UID, cmd.GID, cmd.Groups, cmd.SetUser = user.UID, user.GID, user.Groups, true
	}
	return cmd
}

// Identity is who runs the containers of a spec: root (nil) with rootless=no,
// the kit's ordinary user with rootless=yes, and by default whoever we are.
func Identity(kit *engine.Kit, spec engine.Spec) (*engine.User, error) {
	rootless := spec.Level(engine.Rootless)
	if rootless == "no" || (rootless == engine.DefaultLevel && kit.Root) {
		return nil, nil
	}
	if kit.User == nil {
		return nil, fmt.Errorf("there is no ordinary user: %s", kit.NoUser)
	}
	return kit.User, nil
}

// RootlessLevels says which levels of rootless can be had.
func RootlessLevels(kit *engine.Kit) []engine.Level {
	no, yes := engine.Level{Name: "no", Usable: kit.Root}, engine.Level{Name: "yes", Usable: kit.User != nil}
	if !no.Usable {
		no.Reason, no.Fix = "needs root", "sudo plimsoll run"
	}
	if !yes.Usable {
		yes.Reason = kit.NoUser
		if yes.Reason == "" {
			yes.Reason = "there is no ordinary user"
		}
	}
	return []engine.Level{no, yes}
}

// OwnDir makes a directory for a user's engine.
func OwnDir(dir string, user *engine.User, kit *engine.Kit) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if user != nil && kit.Root {
		return os.Chown(dir, user.UID, user.GID)
	}
	return nil
}
