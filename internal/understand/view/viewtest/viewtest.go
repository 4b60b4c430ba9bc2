// Package viewtest writes made-up runs, small and very large ones, for whatever
// draws them.
//
// It is opinionated: a run is a real directory by the real writer, the same
// bytes for the same Spec, with all that a page has to cope with: values of
// many shapes, environments that fail at times or always, one with a clock of
// its own, engines that lack steps, time series, and texts that do harm where
// they are not taken for data.
package viewtest

import (
	"errors"
	"math/rand/v2"
	"time"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/view"
)

// perBlock is the number of trials of each cell in a block.
const perBlock = 10

// Spec is the size of a made-up run: Envs × Workloads × Blocks × perBlock trials.
type Spec struct {
	Envs, Workloads, Blocks int
	// Running leaves the run as one that still goes on.
	Running bool
	// Hostile puts markup, escape sequences and bytes that are no text wherever
	// a run has words of others.
	Hostile bool
}

// The sizes that reports are tried with.
var (
	Small           = Spec{Envs: 8, Workloads: 2, Blocks: 12}
	HundredThousand = Spec{Envs: 60, Workloads: 4, Blocks: 42}
	Million         = Spec{Envs: 60, Workloads: 4, Blocks: 417}
)

// Data writes the run to dir and gives what a page draws of it.
func (s Spec) Data(dir string) (*view.Data, error) {
	if err := s.Write(dir); err != nil {
		return nil, err
	}
	r, err := record.Open(dir)
	if err != nil {
		return nil, err
	}
	return view.Build(r, view.Options{})
}

var began = time.Date(2026, 3, 14, 9, 26, 53, 0, time.UTC)

// Write writes the run to dir, which must be new or empty.
func (s Spec) Write(dir string) (err error) {
	run := s.run()
	w, err := record.Create(dir, run)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	rng := rand.New(rand.NewPCG(20260314, 7))
	m := maker{Spec: s, rng: rng, run: run, values: map[string]float64{}, events: map[record.Event]int64{}}
	order := make([]int, 0, s.Envs*s.Workloads*perBlock)
	for block := range s.Blocks {
		order = order[:0]
		for cell := range s.Envs * s.Workloads {
			for range perBlock {
				order = append(order, cell)
			}
		}
		rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		m.shared = 0.03 * rng.NormFloat64()
		for _, cell := range order {
			t := m.trial(block, cell%s.Envs, cell/s.Envs)
			if err := m.samples(w, t, cell); err != nil {
				return err
			}
			if err := w.Append(t); err != nil {
				return err
			}
		}
	}
	return w.Update(run)
}
