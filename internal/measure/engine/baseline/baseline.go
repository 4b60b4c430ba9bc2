// Package baseline has the three environments that engines are compared with:
// native (the same root file system, entered with chroot and nothing else),
// floor (the least that the kernel can do to make a container) and host (the
// host's own programs, not isolated at all).
//
// It is opinionated: nothing is between the launcher and the payload but the
// system calls that a baseline stands for, and a baseline that needs a
// privilege we lack is unavailable rather than replaced by a similar one.
//
// Why it is so: docs/decisions/baselines.md.
package baseline

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"golang.org/x/sys/unix"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/cgroup"
	"plimsoll/internal/measure/engine/clirun"
	"plimsoll/internal/measure/host/proc"
	"plimsoll/internal/measure/image"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/record"
)

// kernel is the version of a baseline: the kernel does all the work.
func kernel() string {
	return "Linux " + proc.Release()
}

func usable(names ...string) []engine.Level {
	var ls []engine.Level
	for _, n := range names {
		ls = append(ls, engine.Level{Name: n, Usable: true})
	}
	return ls
}

// directory provides the image's root directory.
func directory(ctx context.Context, kit *engine.Kit, spec engine.Spec) (string, error) {
	return kit.SpecImage(ctx, spec, image.Directory, nil)
}

// env is the environment of a payload: that of the images, then the task's.
func env(task engine.Task) []string {
	return append([]string{adapter.Path}, task.Env...)
}

// environment is any baseline, ready for trials.
type environment struct {
	*clirun.Base
	// prepare makes what a container needs.
	prepare func(task engine.Task) (*container, error)
	// close undoes what the baseline's own Open made; nil where that is nothing.
	close func() error
}

// container is what was prepared for one.
type container struct {
	cmd  probe.Command
	undo func() error
	// exec makes the command of one more program beside the payload; nil where
	// there is none.
	exec func(task engine.Task) (probe.Command, error)
}

func (e *environment) Close(ctx context.Context) error {
	err := e.Base.Close(ctx)
	if e.close != nil {
		err = errors.Join(err, e.close())
	}
	return err
}

// open finishes what the Open of each baseline begins.
func open(ctx context.Context, kit *engine.Kit, spec engine.Spec, e *environment) (engine.Environment, error) {
	payload, err := adapter.Prove(ctx, kit, e, spec.ID)
	if err != nil {
		return nil, closeAfter(ctx, e, err)
	}
	e.AddFacts(map[string]string{engine.HeldFact: engine.HeldByUs, "version": kernel(), "pid": payload.Report["pid"], "cgroup": cgroup.Version()})
	return e, nil
}

func closeAfter(ctx context.Context, e engine.Environment, err error) error {
	if cerr := e.Close(context.WithoutCancel(ctx)); cerr != nil {
		return fmt.Errorf("%w (and closing: %w)", err, cerr)
	}
	return err
}

func (e *environment) plan(task engine.Task, cmd probe.Command) clirun.Plan {
	p := clirun.Attached(task, cmd)
	p.NoClient = true
	return p
}

func (e *environment) Run(ctx context.Context, task engine.Task) (engine.Result, error) {
	c, err := e.prepare(task)
	if err != nil {
		return adapter.Refused(err), nil
	}
	res, err := e.Base.Run(ctx, e.plan(task, c.cmd))
	if uerr := c.undo(); err == nil {
		unclean(&res, uerr)
	}
	return res, err
}

// unclean adds to a result that its preparation could not be undone.
func unclean(res *engine.Result, err error) {
	if err != nil && res.Failure == nil {
		res.Failure = &record.Failure{Class: record.UncleanEnd, Text: err.Error()}
	}
}

func (e *environment) Hold(ctx context.Context, task engine.Task) (engine.Held, error) {
	c, err := e.prepare(task)
	if err != nil {
		return nil, err
	}
	h, err := e.Base.Hold(ctx, clirun.Holding{Plan: e.plan(task, c.cmd), Place: e.place,
		After: func(_ context.Context, res *engine.Result) { unclean(res, c.undo()) }})
	if err != nil {
		return nil, err
	}
	if c.exec == nil {
		return h, nil
	}
	return h.WithExec(func(task engine.Task) (clirun.Plan, error) {
		cmd, err := c.exec(task)
		return e.plan(task, cmd), err
	}), nil
}

func (e *environment) place(ctx context.Context, pid int) engine.Place {
	p := clirun.HostPlace(ctx, pid)
	if e.Facts()["network"] == "none" {
		p.Address, p.NoAddress = "", "its network namespace is empty"
	}
	return p
}

func (e *environment) Calibrate(ctx context.Context, task engine.Task, rounds int) ([]probe.Exchange, error) {
	c, err := e.prepare(task)
	if err != nil {
		return nil, err
	}
	xs, err := e.Exchange(ctx, task, c.cmd, rounds)
	return xs, errors.Join(err, c.undo())
}

func nothing() error { return nil }

// needRoot is why a baseline that needs root can't be had.
const needRoot = "sudo plimsoll …"

// onOverlay says whether a directory lies on an overlay, whose upper layer
// can't be on another one.
func onOverlay(dir string) bool {
	var fs unix.Statfs_t
	return unix.Statfs(dir, &fs) == nil && fs.Type == unix.OVERLAYFS_SUPER_MAGIC
}

// hostPath is the host's own program for an argument: the probe for the
// image's, else the one of that name on the PATH.
func hostPath(kit *engine.Kit, arg string) (string, error) {
	if arg == image.ProbePath {
		return kit.ProbePath, nil
	}
	if p, err := kit.LookPath(filepath.Base(arg)); err == nil {
		return p, nil
	}
	return "", fmt.Errorf("the host has no program %s on its PATH", filepath.Base(arg))
}
