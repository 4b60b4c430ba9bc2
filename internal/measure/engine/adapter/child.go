package adapter

import (
	"syscall"
	"time"

	"plimsoll/internal/measure/child"
	"plimsoll/internal/measure/probe"
)

// Child is a command of the launcher's as one that is not measured, with a
// limit (0: the context's alone): its arguments, environment, directory and
// user.
func Child(c probe.Command, limit time.Duration) child.Command {
	out := child.Command{Argv: c.Argv, Env: c.Env, Dir: c.Dir, Limit: limit}
	if c.SetUser {
		out.User = &syscall.Credential{Uid: uint32(c.UID), Gid: uint32(c.GID)}
		for _, g := range c.Groups {
			out.User.Groups = append(out.User.Groups, uint32(g))
		}
	}
	return out
}
