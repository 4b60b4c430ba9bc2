//go:build linux

package cli

import (
	"context"
	"slices"

	"plimsoll/internal/measure/study"
)

// smallPlan is that of a study which a command writes itself, for the engines here.
// The baselines that every study has say nothing in it, but for those that it keeps.
func (s *setting) smallPlan(ctx context.Context, by, text string, cat *study.Catalogue, keeps func(engine string) bool) (*study.Plan, error) {
	st, err := study.Read(study.Source{Path: by, Data: []byte(text)}, cat)
	if err != nil {
		return nil, &exitError{status: Usage, err: err}
	}
	usable, err := s.usable(ctx, st, true)
	if err != nil {
		return nil, err
	}
	p, err := study.Expand(st, cat, study.Options{Usable: usable})
	if err != nil {
		return nil, &exitError{status: Usage, err: err}
	}
	for _, e := range slices.Clone(p.Environments) {
		if e.Baseline != "" && !keeps(e.Engine) {
			if err := p.Drop(e.ID, "", ""); err != nil {
				return nil, err
			}
		}
	}
	return p, nil
}
