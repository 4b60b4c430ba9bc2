package podman

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/engine"
	"plimsoll/internal/engine/clirun"
	"plimsoll/internal/record"
)

// remove kills and removes a container and returns when it and its monitor
// are gone. A container that is not there is gone.
func (env *environment) remove(ctx context.Context, name string) error {
	return env.p.removeContainer(ctx, name)
}

func (p *program) removeContainer(ctx context.Context, name string) error {
	there, err := p.known(ctx, "container", name)
	if err != nil {
		return err
	}
	if there {
		if _, err := p.output(ctx, "rm", "--force", "--time", "0", "--volumes", name); err != nil {
			if still, kerr := p.known(ctx, "container", name); kerr != nil || still {
				return wrong("removing the container "+name, err)
			}
		}
	}
	endExecutions(name)
	if !monitorGone(ctx, name) {
		return fmt.Errorf("the monitor (conmon) of the container %s has not ended", name)
	}
	return nil
}

// mop removes what a failed trial has left.
func (env *environment) mop(ctx context.Context, name string, res *engine.Result) error {
	err := env.remove(ctx, name)
	if err != nil && res.Failure != nil {
		res.Failure.Text += "; and removing the container: " + err.Error()
		return nil
	}
	return err
}

// settle is what is looked at after a trial: that the container is gone, and
// that its monitor has ended, whose clean-up (`podman container cleanup`) runs
// on after `podman run` has returned and would disturb the next trial.
func (env *environment) settle(ctx context.Context, name string, res *engine.Result) {
	there, err := env.p.known(ctx, "container", name)
	if err == nil && there {
		err = fmt.Errorf("the container %s was still there after its removal had returned", name)
		err = errors.Join(err, env.remove(ctx, name))
	}
	endExecutions(name)
	if err == nil && !monitorGone(ctx, name) {
		err = fmt.Errorf("the monitor (conmon) of the container %s had not ended %v after its removal", name, monitorLimit)
	}
	if err != nil {
		res.Failure = &record.Failure{Class: record.UncleanEnd, Text: err.Error()}
	}
}

// monitorLimit is how long a container's monitor may outlive it.
const monitorLimit = 10 * time.Second

// monitorGone waits until no conmon with this container's name is left.
func monitorGone(ctx context.Context, name string) bool {
	ctx, cancel := context.WithTimeout(ctx, monitorLimit)
	defer cancel()
	for monitored(name) {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(5 * time.Millisecond):
		}
	}
	return true
}

// monitored says whether a conmon of this container runs: its arguments have
// "-n NAME".
func monitored(name string) bool {
	return len(monitors(name, false)) > 0
}

// monitors finds the conmon processes of a container, or those of programs that
// were executed in it.
func monitors(name string, ofExecutions bool) []int {
	arg := []byte("\x00-n\x00" + name + "\x00")
	var pids []int
	for pid, line := range clirun.CommandLines() {
		if bytes.Contains(line, arg) && bytes.Contains(line, []byte("\x00--exec-attach\x00")) == ofExecutions {
			pids = append(pids, pid)
		}
	}
	return pids
}

// endExecutions ends the monitors of programs that were executed by the service
// in a container that is gone: they stay for five minutes, so that somebody may
// ask for the status, which nobody can any more.
func endExecutions(name string) {
	for _, pid := range monitors(name, true) {
		p, err := os.FindProcess(pid) // by a pidfd, so that it can't become another one
		if err != nil {
			continue
		}
		if slices.Contains(monitors(name, true), pid) {
			_ = p.Kill() // where it has not ended
		}
		_ = p.Release()
	}
}

// Leftovers is documented in engine.Engine. It looks into root's store and
// the ordinary user's; the stores of our own are files of the run.
func (e *Engine) Leftovers(ctx context.Context, kit *engine.Kit, runID string) ([]engine.Leftover, error) {
	var left []engine.Leftover
	var errs []error
	for _, level := range []string{"no", "yes"} {
		user, werr := who(kit, level)
		if werr != nil {
			continue // can't be had, so nothing was made there
		}
		p, werr := find(kit, user)
		if werr != nil {
			return nil, nil // not installed
		}
		if user != nil && !used(user) {
			continue
		}
		e.holdPause(p)
		found, err := p.leftovers(ctx, runID)
		left = append(left, found...)
		errs = append(errs, err, e.letGo(ctx, p))
	}
	return append(left, services(runID)...), errors.Join(errs...)
}

// used says whether a user has a podman store at all: asking podman would
// make one.
func used(u *engine.User) bool {
	_, err := os.Stat(filepath.Join(u.Home, ".local/share/containers/storage"))
	return err == nil
}

func (p *program) leftovers(ctx context.Context, runID string) ([]engine.Leftover, error) {
	label := engine.Label
	if runID != "" {
		label += "=" + runID
	}
	var list []struct {
		ID    string `json:"Id"`
		Names []string
	}
	if err := p.read(ctx, &list, "ps", "--all", "--format", "json", "--filter", "label="+label); err != nil {
		return nil, wrong("listing the containers of ours (as "+p.who()+")", err)
	}
	var left []engine.Leftover
	for _, c := range list {
		left = append(left, engine.Leftover{Kind: "container", Name: strings.Join(c.Names, ","),
			Remove: func(ctx context.Context) error { return p.removeContainer(ctx, c.ID) }})
	}
	tags, err := p.tags(ctx, runID)
	for _, tag := range tags {
		left = append(left, engine.Leftover{Kind: "image", Name: tag,
			Remove: func(ctx context.Context) error { return p.removeImage(ctx, tag) }})
	}
	return left, err
}
