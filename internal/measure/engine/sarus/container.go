package sarus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/measure/child"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/cgroup"
	"plimsoll/internal/measure/engine/stamp"
	"plimsoll/internal/record"
)

// settleLimit is how long a container may take to go by itself when its
// `sarus run` has ended: where that was killed, its runtime goes on for a
// moment.
const settleLimit = 2 * time.Second

// account is a container's way through the ledger and to its end: what of it is
// left when its life is over is taken away and told.
func (e *environment) account(ctx context.Context, name string, life func() (engine.Result, error)) (engine.Result, error) {
	if !e.s.names {
		return life() // it can't be told from others'
	}
	thing := e.s.thing(engine.KindContainer, name)
	if err := e.Kit.Ledger.Made(thing); err != nil {
		return engine.Result{}, fmt.Errorf("noting the container in the ledger: %w", err)
	}
	res, err := life()
	return res, errors.Join(err, e.settle(ctx, thing, &res))
}

// settle sees to it that a container is gone, and strikes it out.
func (e *environment) settle(ctx context.Context, thing engine.Thing, res *engine.Result) error {
	ctx = context.WithoutCancel(ctx)
	name := thing.Name
	there, err := e.s.there(ctx, e.Kit, name)
	if there && err == nil {
		if there, err = e.s.outlives(ctx, e.Kit, name); !there && err == nil {
			e.late(res)
		}
	}
	// A life that went well has taken its groups away itself.
	if there || err != nil || res.Failure != nil || len(res.Events) == 0 {
		if rerr := e.s.clear(ctx, e.Kit, name); rerr != nil {
			adapter.Unclean(res, fmt.Errorf("the container %s was left: %w", name, rerr))
			return nil // it stays in the ledger
		}
		if there {
			adapter.Unclean(res, fmt.Errorf("the container %s was still there when `sarus run` had ended, and was removed", name))
		}
	}
	return e.Kit.Ledger.Gone(thing)
}

// late moves the end of a container whose `sarus run` was killed to when it was
// seen to be gone.
func (*environment) late(res *engine.Result) {
	at := stamp.Now()
	for _, e := range []record.Event{record.Exit, record.Stopped, record.Removed} {
		if res.Events[e] != 0 {
			res.Events[e] = at
		}
	}
}

// dir is where Sarus' runc keeps the user's containers.
func (s *sarus) dir() string { return filepath.Join(s.states, s.uid()) }

// there says whether a container is still known. Only root may look; others
// must ask.
func (s *sarus) there(ctx context.Context, kit *engine.Kit, name string) (bool, error) {
	if !kit.Root {
		names, err := s.containers(ctx, kit)
		return slices.Contains(names, name), err
	}
	_, err := os.Lstat(filepath.Join(s.dir(), name))
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// containers are the user's: the first column of `sarus ps`.
func (s *sarus) containers(ctx context.Context, kit *engine.Kit) ([]string, error) {
	out, err := s.run(ctx, kit, "ps")
	if err != nil {
		return nil, err
	}
	var names []string
	for i, line := range strings.Split(out, "\n") {
		if f := strings.Fields(line); i > 0 && len(f) > 0 {
			names = append(names, f[0])
		}
	}
	return names, nil
}

// outlives waits for a container that is about to go, and says whether it does
// not.
func (s *sarus) outlives(ctx context.Context, kit *engine.Kit, name string) (bool, error) {
	for until := time.Now().Add(settleLimit); ; {
		there, err := s.there(ctx, kit, name)
		if !there || err != nil || time.Now().After(until) {
			return there, err
		}
		time.Sleep(time.Millisecond)
	}
}

// clear removes a container of this name, with its control groups. One that is
// not there is gone.
func (s *sarus) clear(ctx context.Context, kit *engine.Kit, name string) error {
	there, err := s.there(ctx, kit, name)
	if err != nil {
		return err
	}
	kept := s.groupsKept(name)
	if there {
		if err := s.delete(ctx, kit, name); err != nil {
			return err
		}
	}
	groups, err := cgroup.Below(kit.Ledger, name)
	if err != nil {
		return err
	}
	return cgroup.RemoveGroups(ctx, append(groups, kept...))
}

// groupsKept returns the control groups of a container by its runtime's own state: none
// where there is no state, or it may not be read.
func (s *sarus) groupsKept(name string) []string {
	text, err := os.ReadFile(filepath.Join(s.dir(), name, "state.json"))
	var state struct {
		Paths map[string]string `json:"cgroup_paths"`
	}
	if err != nil || json.Unmarshal(text, &state) != nil {
		return nil
	}
	return slices.DeleteFunc(slices.Collect(maps.Values(state.Paths)), func(path string) bool { return filepath.Base(path) != name })
}

// delete takes a container away by its runtime: Sarus itself has no command for
// one whose `sarus run` was killed.
func (s *sarus) delete(ctx context.Context, kit *engine.Kit, name string) error {
	byHand := fmt.Sprintf("runc --root %s delete --force %s", s.dir(), name)
	if !kit.Root {
		return &engine.Error{Class: record.UncleanEnd, Text: "only root may remove a container whose `sarus run` was killed", Fix: "sudo " + byHand}
	}
	runc, err := kit.LookPath("runc")
	if err != nil {
		return &engine.Error{Class: record.UncleanEnd, Text: "Sarus has no command that removes a container whose `sarus run` was killed, and runc, which has, is not on the PATH",
			Fix: byHand + " (with the runcPath of Sarus' etc/sarus.json)"}
	}
	c := child.Command{Argv: []string{runc, "--root", s.dir(), "delete", "--force", name}, Dir: "/", Limit: commandLimit}
	out, err := child.Run(ctx, c)
	if there, terr := s.there(ctx, kit, name); !there && terr == nil {
		return nil // whatever it said
	}
	if err == nil {
		err = errors.New("it is still there")
	}
	return &engine.Error{Class: record.UncleanEnd, Text: fmt.Sprintf("removing the container %s: %s", name, adapter.Words(out.Stderr)), Fix: byHand, Err: err}
}
