//go:build linux

package cli

import (
	"context"
	"errors"
	"io"
	"slices"

	"plimsoll/internal/measure/run"
	"plimsoll/internal/measure/study"
	"plimsoll/internal/record"
)

// smallStudy is one that a command writes itself and runs at once.
type smallStudy struct {
	turn
	by, of  string // the command, and the engine that it is of, if it is of one
	text    string
	dir     string                   // of the record; empty: by the time
	keeps   func(engine string) bool // which baselines stay
	lacks   func(*study.Plan) bool   // a further reason why there is nothing to measure; nil: none
	command func(seed uint64) string // what measures the same again
	builds  []record.Build           // that its levels of build stand for
}

// run plans the study and hands it to what measures and tells.
func (m smallStudy) run(w World, measured func(context.Context, World, run.Options) error) error {
	if err := takesRecord(m.dir); err != nil {
		return err
	}
	w, finish, broken, stop := w.interrupts()
	defer stop()
	s, err := newSetting(w)
	if err != nil {
		return err
	}
	if m.of != "" && len(m.builds) == 0 { // builds are of programs
		if err := s.knows("", m.of); err != nil {
			return err
		}
	}
	s.builds = m.builds
	plan, err := m.plan(finish, s)
	if err != nil {
		return err
	}
	o := s.options()
	o.Progress, o.Finish, o.Wait = newProgress(w, m.progress), finish.Done(), m.wait
	o.Plan = plan
	if built, err := s.offerImages(finish, &o, false); err != nil {
		return err
	} else if built {
		if plan, err = m.plan(finish, s); err != nil {
			return err
		}
	}
	if len(plan.Cells) == 0 || m.lacks != nil && m.lacks(plan) {
		return unopened(plan.Excluded)
	}
	plan.Study.Command = m.command(plan.Protocol.Seed)
	o.Plan, o.Run = plan, &record.Run{Tool: tool(), Builds: m.builds}
	name := m.by
	if m.of != "" {
		name += "-" + m.of
	}
	if o.Dir, err = outputDir(m.dir, name); err != nil {
		return err
	}
	if err := describeHost(finish, s, &o, m.force); err != nil {
		return err
	}
	return measured(broken, w, o)
}

// plan is what of the study can run here.
func (m smallStudy) plan(ctx context.Context, s *setting) (*study.Plan, error) {
	p, err := s.smallPlan(ctx, m.by, m.text, s.studyCatalogue(), m.keeps)
	if err != nil {
		return nil, err
	}
	return p, s.withoutImages(p)
}

// smallPlan is that of a study which a command writes itself, for the engines here.
// The baselines that every study has say nothing in it, but for those that it keeps.
func (s *setting) smallPlan(ctx context.Context, by, text string, cat *study.Catalogue, keeps func(engine string) bool) (*study.Plan, error) {
	st, err := readOwn(by, text, cat)
	if err != nil {
		return nil, err
	}
	p, err := s.expand(ctx, st, cat, true)
	if err != nil {
		return nil, err
	}
	return p, keepBaselines(p, keeps)
}

// readOwn reads a study that a command has written. What is wrong with it is wrong with
// the command line, so no line of it is named: nobody can look there.
func readOwn(by, text string, cat *study.Catalogue) (*study.Study, error) {
	st, err := study.Read(study.Source{Path: by, Data: []byte(text)}, cat)
	if all, ok := errors.AsType[*study.Errors](err); ok {
		for _, e := range all.List {
			e.Path = ""
		}
	}
	if err != nil {
		return nil, &exitError{status: Usage, err: err}
	}
	return st, nil
}

// printOwn prints a study that a command has written, for plimsoll run: one that this
// can read.
func printOwn(w World, by, text string) error {
	s, err := newSetting(w)
	if err != nil {
		return err
	}
	if _, err := readOwn(by, text, s.studyCatalogue()); err != nil {
		return err
	}
	_, err = io.WriteString(w.Stdout, text)
	return err
}

// keepBaselines takes the baselines out of a plan that say nothing in it.
func keepBaselines(p *study.Plan, keeps func(engine string) bool) error {
	for _, e := range slices.Clone(p.Environments) {
		if e.Baseline != "" && !keeps(e.Engine) {
			if err := p.Drop(e.ID, "", ""); err != nil {
				return err
			}
			p.Excluded = slices.DeleteFunc(p.Excluded, func(x record.Excluded) bool { return x.ID == e.ID && x.Reason == "" })
		}
	}
	return nil
}
