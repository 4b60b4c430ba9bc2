package sarus

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/measure/child"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/probe"
)

// sarus is the program, run by one user. Each user has an own repository.
type sarus struct {
	path   string
	user   *engine.User // nil is root
	states string       // see Engine
	names  bool         // containers can be given a name: from 1.7
}

// by is the program at a path as a user runs it.
func (e *Engine) by(path string, user *engine.User) *sarus {
	return &sarus{path: path, user: user, states: e.states}
}

func (s *sarus) command(kit *engine.Kit, args ...string) probe.Command {
	return adapter.As(probe.Command{Argv: append([]string{s.path}, args...), Dir: "/"}, s.user, kit)
}

// commandLimit bounds what is not measured.
const commandLimit = 2 * time.Minute

// run runs the program for something that is not measured.
func (s *sarus) run(ctx context.Context, kit *engine.Kit, args ...string) (string, error) {
	return said(ctx, adapter.Child(s.command(kit, args...), commandLimit))
}

// said runs it and gives what it printed.
func said(ctx context.Context, c child.Command) (string, error) {
	out, err := child.Run(ctx, c)
	if _, ok := errors.AsType[*exec.ExitError](err); ok {
		err = fmt.Errorf("sarus %s: %w: %s", c.Argv[1], err, adapter.Words(out.Stderr))
	}
	return string(out.Stdout), err
}

// knowsNames says whether its containers can be given a name.
func (s *sarus) knowsNames(ctx context.Context, kit *engine.Kit) (bool, error) {
	out, err := s.run(ctx, kit, "help", "run")
	return strings.Contains(out, "--name"), err
}

func (s *sarus) who() string {
	if s.user != nil {
		return s.user.Name
	}
	return "root"
}

// uid is the user's number, by which Sarus parts the containers of users.
func (s *sarus) uid() string {
	if s.user != nil {
		return strconv.Itoa(s.user.UID)
	}
	return "0"
}
