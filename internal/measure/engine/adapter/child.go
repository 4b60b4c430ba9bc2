package adapter

import (
	"syscall"
	"time"

	"plimsoll/internal/measure/child"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/probe"
)

// Child is a command of the launcher's as one that is not measured, with a
// limit (0: the context's alone): its arguments, environment, directory and
// user.
func Child(c probe.Command, limit time.Duration) child.Command {
	out := child.Command{Argv: c.Argv, Env: c.Env, Dir: c.Dir, Limit: limit}
	if c.SetUser {
		out.User = Credential(&engine.User{UID: c.UID, GID: c.GID, Groups: c.Groups})
	}
	return out
}

// Credential is a user as the kernel takes one for a program; nil is ourselves.
func Credential(user *engine.User) *syscall.Credential {
	if user == nil {
		return nil
	}
	c := &syscall.Credential{Uid: uint32(user.UID), Gid: uint32(user.GID)}
	for _, g := range user.Groups {
		c.Groups = append(c.Groups, uint32(g))
	}
	return c
}
