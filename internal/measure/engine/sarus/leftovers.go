package sarus

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/cgroup"
	"plimsoll/internal/record"
)

var _ engine.Bearer = (*Engine)(nil)

// thing is what the ledger says of something of a user's.
func (s *sarus) thing(kind, name string) engine.Thing {
	t := engine.Thing{Kind: kind, Name: name, Engine: program, At: s.path}
	if s.user != nil {
		t.As = s.user.Name
	}
	return t
}

// Leftovers finds images in the repositories of root and of the ordinary user, and
// containers whose `sarus run` was killed. Neither can bear a label; both have the
// run's id in their name.
func (e *Engine) Leftovers(ctx context.Context, kit *engine.Kit, things []engine.Thing) ([]engine.Leftover, error) {
	return engine.LookForEach(things, func(t engine.Thing) (bool, error) {
		s, err := e.of(kit, t)
		if err != nil {
			return false, err
		}
		return s.holds(ctx, kit, t)
	}, func(ctx context.Context, t engine.Thing) error {
		s, err := e.of(kit, t)
		switch {
		case err != nil:
			return err
		case t.Kind == engine.KindImage:
			return s.remove(ctx, kit, t.Name)
		}
		return s.clear(ctx, kit, t.Name)
	}), nil
}

// of is the program at the place that an entry names, as that one's user.
func (e *Engine) of(kit *engine.Kit, t engine.Thing) (*sarus, error) {
	switch {
	case t.As == "" && !kit.Root:
		return nil, &engine.Error{Class: record.Unavailable, Text: "it is root's", Fix: "sudo plimsoll clean"}
	case t.As == "":
		return e.by(t.At, nil), nil
	case kit.User == nil || kit.User.Name != t.As:
		return nil, &engine.Error{Class: record.Unavailable,
			Text: "it is the user " + t.As + "'s, who is not the ordinary user of this run", Fix: "PLIMSOLL_USER=" + t.As + " plimsoll clean"}
	}
	return e.by(t.At, kit.User), nil
}

// holds says whether a thing is still there.
func (s *sarus) holds(ctx context.Context, kit *engine.Kit, t engine.Thing) (bool, error) {
	if t.Kind == engine.KindImage {
		if _, err := os.Stat(s.path); err != nil {
			return false, &engine.Error{Class: record.Unavailable, Text: "the program that it was loaded by can't be reached",
				Fix: "put Sarus back to " + s.path + ", then plimsoll clean", Err: err}
		}
		refs, err := s.references(ctx, kit)
		return slices.Contains(refs, t.Name), err
	}
	there, err := s.there(ctx, kit, t.Name)
	if there || err != nil {
		return there, err
	}
	groups, err := cgroup.Below(kit.Ledger, t.Name)
	return len(groups) > 0, err
}

func (e *Engine) Bearing(ctx context.Context, kit *engine.Kit, runID string) ([]engine.Thing, error) {
	path, err := kit.LookPath(program)
	if err != nil {
		return nil, nil //nolint:nilerr // it is not installed, so that it holds nothing
	}
	var found []engine.Thing
	var errs []error
	var all []*sarus
	if kit.Root {
		all = append(all, e.by(path, nil))
	}
	if kit.User != nil {
		all = append(all, e.by(path, kit.User))
	}
	for _, s := range all {
		refs, err := s.references(ctx, kit)
		errs = append(errs, err)
		for _, r := range refs {
			if strings.HasSuffix(r, ":"+runID) {
				found = append(found, s.thing(engine.KindImage, r))
			}
		}
		names, err := s.containers(ctx, kit)
		errs = append(errs, err)
		for _, n := range names {
			if slices.Contains(strings.Split(n, "-"), runID) {
				found = append(found, s.thing(engine.KindContainer, n))
			}
		}
	}
	return found, errors.Join(errs...)
}
