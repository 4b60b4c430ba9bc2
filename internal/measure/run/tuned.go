package run

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/tune"
	"plimsoll/internal/record"
)

// tuner keeps the machine as the trial under way asks for it, and puts it back. All
// that it may ever change is noted before it changes anything.
type tuner struct {
	state State
	// levels are what each level of the factor Tuned changes.
	levels map[string][]tune.Change
	now    []tune.Change
	held   map[string]*os.File
	guard  *guard
}

// startTuning looks at what the plan's environments ask of the machine; nil where
// none asks for anything. Which states these are stands in the record.
func (r *runner) startTuning() (*tuner, error) {
	t := &tuner{state: r.State, levels: map[string][]tune.Change{}, held: map[string]*os.File{}}
	all := []tune.Change{}
	for i := range r.rec.Environments {
		level := r.tunedLevel(&r.rec.Environments[i])
		if _, known := t.levels[level]; known || level == "" {
			continue
		}
		states, err := tune.Machine{}.Wanted(level)
		if err != nil {
			return nil, fmt.Errorf("tuning the machine: %w", err)
		}
		var names []string
		t.levels[level] = nil
		for _, s := range states {
			names = append(names, s.Name)
			t.levels[level] = append(t.levels[level], s.Changes...)
			for _, c := range s.Changes {
				if !slices.Contains(all, c) {
					all = append(all, c)
				}
			}
		}
		if level == tune.Everything {
			if r.rec.Host.More == nil {
				r.rec.Host.More = map[string]string{}
			}
			r.rec.Host.More[engine.Tuned] = strings.Join(names, " ")
		}
	}
	if len(t.levels) == 0 {
		return nil, nil
	}
	by, err := t.state.noteKernel(all)
	if err != nil || len(all) == 0 {
		return t, err
	}
	if t.guard, err = t.state.startGuard(by); err != nil {
		r.progress.Remark("after a kill the machine would stay tuned until plimsoll clean puts it back, since no process can see to it: " + err.Error())
	}
	return t, nil
}

// tunedLevel is what an environment asks of the machine: its own level, else the
// study's. A simulated engine is on no machine.
func (r *runner) tunedLevel(env *record.Environment) string {
	level := env.Levels[engine.Tuned]
	switch e, known := r.engines[env.Engine]; {
	case known && e.Info().Simulated, level == engine.DefaultLevel:
		return ""
	case level == "" && r.rec.Protocol.Tuned:
		return tune.Everything
	}
	return level
}

// to brings the machine into the state of a level; "" is as it was found.
func (t *tuner) to(level string) error {
	if t == nil {
		return nil
	}
	want := t.levels[level]
	var errs []error
	for _, c := range slices.Backward(t.now) {
		if !slices.Contains(want, c) {
			errs = append(errs, t.unset(c))
		}
	}
	for _, c := range want {
		if !slices.Contains(t.now, c) {
			errs = append(errs, t.set(c))
		}
	}
	t.now = want
	return errors.Join(errs...)
}

func (t *tuner) set(c tune.Change) error {
	if !c.Held {
		return tune.Machine{}.Set(c)
	}
	f, err := tune.Machine{}.Hold(c)
	t.held[c.Path] = f
	return err
}

func (t *tuner) unset(c tune.Change) error {
	if f := t.held[c.Path]; c.Held && f != nil {
		delete(t.held, c.Path)
		return f.Close()
	}
	return tune.Machine{}.Unset(c)
}

// close puts the machine back.
func (t *tuner) close() error {
	if t == nil {
		return nil
	}
	return errors.Join(t.to(""), t.state.RestoreKernel(), t.guard.dismiss())
}
