package podman

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/thread"
	"plimsoll/internal/measure/host/proc"
	"plimsoll/internal/record"
)

// removeContainer kills and removes a container and returns when it and its
// monitor are gone. A container that is not there is gone.
func (p *program) removeContainer(ctx context.Context, name string) error {
	id, err := p.ours(ctx, name)
	if err != nil {
		return err
	}
	if id != "" {
		if _, err := p.output(ctx, "rm", "--force", "--time", "0", "--volumes", id); err != nil {
			if still, kerr := p.ours(ctx, name); kerr != nil || still != "" {
				return wrong("removing the container "+name, err)
			}
		}
	}
	p.endExecutions(name, id)
	if !p.monitorGone(ctx, name, id) {
		return fmt.Errorf("the monitor (conmon) of the container %s has not ended", name)
	}
	return errors.Join(p.dropStates(name), p.dropExit(id))
}

// dropExit removes the file in which the monitor of a container has written how that
// ended: podman does so for a monitor that ends before it removes the container.
func (p *program) dropExit(id string) error {
	if id == "" {
		return nil
	}
	dir := "libpod/exits"
	if p.user != nil {
		dir = "libpod/tmp/exits"
	}
	return p.asUser(func() error {
		err := os.Remove(filepath.Join(p.runDir(), dir, id))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
}

// monitorLimit is how long a container's monitor may outlive it.
const monitorLimit = 10 * time.Second

// monitorGone waits until no conmon of this container is left that is proved to be
// its own. id is the container's, or empty where it is not known.
func (p *program) monitorGone(ctx context.Context, name, id string) bool {
	ctx, cancel := context.WithTimeout(ctx, monitorLimit)
	defer cancel()
	for slices.ContainsFunc(p.monitor(name).Find(), p.monitors(id)) {
		if !engine.Pause(ctx, 5*time.Millisecond) {
			return false
		}
	}
	return true
}

// monitor is what a container's monitor is known by: that it is podman's conmon,
// run by its user, and has the whole name.
func (p *program) monitor(name string) adapter.Helper {
	program := cmp.Or(p.conmon, conmon)
	return adapter.Helper{Program: program, UID: p.uid(), Args: []string{"-n", name}}
}

// endExecutions ends the monitors of programs that were executed by the service
// in a container that is gone: they stay for five minutes, so that somebody may
// ask for the status, which nobody can any more.
func (p *program) endExecutions(name, id string) {
	h := p.monitor(name)
	h.Also = "--exec-attach"
	// The proof is root's to read, the signal is sent with the user's rights.
	proved := slices.DeleteFunc(h.Find(), func(pid int) bool { return !p.monitors(id)(pid) })
	_ = p.asUser(func() error { h.Kill(func(pid int) bool { return slices.Contains(proved, pid) }); return nil })
}

// monitors returns what proves a process to be a monitor of the run's: it has
// inherited the run's secret, or, where the user's own service has started it, is in
// the run's control group, or in the scope that systemd has made for the container
// of this id.
func (p *program) monitors(id string) func(pid int) bool {
	return func(pid int) bool {
		if proc.Here.Inherited(pid, p.mark) {
			return true
		}
		groups, _ := proc.Here.Groups(proc.PID(pid)) // it has ended
		return slices.ContainsFunc(groups, func(g proc.Group) bool {
			return p.runID != "" && proc.Under(g.Path, "/"+groupOf(p.runID)) || id != "" && filepath.Base(g.Path) == "libpod-conmon-"+id+".scope"
		})
	}
}

// uid is whose processes this podman's are.
func (p *program) uid() int {
	if p.user != nil {
		return p.user.UID
	}
	return os.Geteuid()
}

// asUser calls f with the rights of whoever runs this podman.
func (p *program) asUser(f func() error) error {
	if p.as == nil {
		return f()
	}
	return thread.As(p.as.UID, p.as.GID, p.as.Groups, f)
}

// thing is what the ledger says of something in this podman's hands.
func (p *program) thing(kind, name string) engine.Thing {
	t := engine.Thing{Kind: kind, Name: name, Engine: "podman", At: p.path}
	if p.user != nil {
		t.As = p.user.Name
	}
	return t
}

// Leftovers looks into the stores of root and of the ordinary user, by the program
// that each thing was made with.
func (e *Engine) Leftovers(ctx context.Context, kit *engine.Kit, things []engine.Thing) ([]engine.Leftover, error) {
	var left []engine.Leftover
	for len(things) > 0 {
		as, at := things[0].As, things[0].At
		var here, others []engine.Thing
		for _, t := range things {
			if t.As == as && t.At == at {
				here = append(here, t)
			} else {
				others = append(others, t)
			}
		}
		things = others
		p, err := reach(kit, as, at)
		if err == nil {
			var found []engine.Leftover
			err = e.holding(ctx, kit, p, func() (err error) {
				found, err = p.leftovers(ctx, kit, here)
				return err
			})
			for i, l := range found {
				if l.Remove != nil {
					found[i].Remove = func(ctx context.Context) error {
						return e.holding(ctx, kit, p, func() error { return l.Remove(ctx) })
					}
				}
			}
			if err == nil {
				left = append(left, found...)
			}
		}
		if err != nil {
			for _, t := range here {
				left = append(left, engine.Leftover{Thing: t, Problem: err})
			}
		}
	}
	return left, nil
}

// reach gives podman as an entry of the ledger names it: its program, where
// that is still there, and its user.
func reach(kit *engine.Kit, as, at string) (*program, error) {
	level := "no"
	if as != "" {
		level = "yes"
	}
	user, werr := who(kit, level)
	if werr == nil && as != "" && user.Name != as {
		werr = &engine.Error{Class: record.Unavailable,
			Text: fmt.Sprintf("it is in the hands of the user %s, and the ordinary user is %s now", as, user.Name), Fix: "PLIMSOLL_USER=" + as + " plimsoll clean"}
	}
	if werr != nil {
		return nil, werr
	}
	program, err := exec.LookPath(at)
	if err == nil {
		with := *kit
		with.LookPath = func(name string) (string, error) {
			if name == "podman" {
				return program, nil
			}
			return kit.LookPath(name)
		}
		kit = &with
	}
	p, werr := find(kit, user)
	if werr != nil {
		return nil, werr
	}
	return p, nil
}

// holding calls f, which may bring the user's pause process up; then it ends
// with it.
func (e *Engine) holding(ctx context.Context, kit *engine.Kit, p *program, f func() error) error {
	e.holdPause(kit, p)
	err := f()
	return errors.Join(err, e.letGo(ctx, kit, p))
}

func (p *program) leftovers(ctx context.Context, kit *engine.Kit, things []engine.Thing) ([]engine.Leftover, error) {
	var left []engine.Leftover
	if len(engine.OfKind(things, engine.KindImage)) > 0 {
		p.await(ctx, commandsEnd, func(line []byte) bool {
			return bytes.Contains(line, []byte("\x00pull\x00")) || bytes.Contains(line, []byte("\x00load\x00"))
		})
	}
	for _, t := range things {
		switch t.Kind {
		case engine.KindContainer, engine.KindImage:
			there, err := p.look(ctx, t)
			if err != nil {
				return left, err
			}
			if !there && (t.Kind != engine.KindContainer || len(p.states(t.Name)) == 0) {
				continue
			}
			remove := func(ctx context.Context) error { return p.removeContainer(ctx, t.Name) }
			if t.Kind == engine.KindImage {
				remove = func(ctx context.Context) error { return p.removeImage(ctx, t.Name) }
			}
			left = append(left, engine.Leftover{Thing: t, Remove: remove})
		case engine.KindProcess:
			left = append(left, p.services(t)...)
		case engine.KindFile:
			if l := p.leftStore(kit, t); l != nil {
				left = append(left, *l)
			}
		}
	}
	return left, nil
}

// ours gives the id of the run's container of this name; "" where there is none.
// A user may have given one a name of ours: that one has not the run's label.
func (p *program) ours(ctx context.Context, name string) (id string, err error) {
	there, err := p.known(ctx, "container", name)
	if err != nil || !there {
		return "", err
	}
	var list []struct {
		ID     string `json:"Id"`
		Name   string
		Config struct{ Labels map[string]string }
	}
	if err := p.read(ctx, &list, "inspect", "--type", "container", name); err != nil {
		if id, kerr := p.unfinished(ctx, name); kerr == nil {
			return id, nil
		}
		if there, kerr := p.known(ctx, "container", name); kerr == nil && !there {
			return "", nil // it has gone meanwhile
		}
		return "", wrong("looking whose the container "+name+" is", err)
	}
	if len(list) != 1 || list[0].Name != name || p.runID == "" || list[0].Config.Labels[engine.Label] != p.runID {
		return "", nil
	}
	return list[0].ID, nil
}

// look says whether a container or an image of the ledger's is there.
func (p *program) look(ctx context.Context, t engine.Thing) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, engine.LookLimit)
	defer cancel()
	if t.Kind == engine.KindImage {
		return p.known(ctx, t.Kind, t.Name)
	}
	id, err := p.ours(ctx, t.Name)
	return id != "", err
}

// leftStore says whether a directory of a store of this run is there.
func (p *program) leftStore(kit *engine.Kit, t engine.Thing) *engine.Leftover {
	if _, err := os.Lstat(t.Name); errors.Is(err, fs.ErrNotExist) {
		return nil // the kill came before it was made, or after it had gone
	}
	q, err := p.storeOf(kit, t.Name)
	if err != nil {
		return &engine.Leftover{Thing: t, Problem: err}
	}
	return &engine.Leftover{Thing: t, Remove: func(ctx context.Context) error { return q.sweepStore(ctx, kit) }}
}
