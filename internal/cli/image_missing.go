//go:build linux

package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/common/harmless"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/imagestore"
	"plimsoll/internal/measure/run"
	"plimsoll/internal/measure/study"
	"plimsoll/internal/measure/workload"
	"plimsoll/internal/record"
)

// imageMissing is the code of the remark that a plan lacks an image.
const imageMissing = "image-missing"

// lackedImage is an image that a plan needs and that is not here until it is built.
type lackedImage struct {
	name, reason, fix string
	build             string // what plimsoll image build makes it of; empty: it can't be built here
	// What is lost without it, of how many: rows are workloads in environments.
	workloads, ofWorkloads, rows, ofRows int
	environments, ofEnvironments         int // for which the study names it
}

// withoutImages takes out of a plan what needs an image that is not here, and
// remarks on each, before anything else.
func (s *setting) withoutImages(p *study.Plan) error {
	store, states := s.store(), map[string]imagestore.State{}
	state := func(name string) (imagestore.State, bool) {
		st, ok := states[name]
		if !ok {
			var err error
			if st, err = store.State(name); err != nil {
				st = imagestore.State{} // it is judged when it is opened
			}
			states[name] = st
		}
		return st, st.State == imagestore.NotBuilt || st.State == imagestore.Unavailable
	}
	var all []*lackedImage
	of := func(name string, st imagestore.State) *lackedImage {
		i := slices.IndexFunc(all, func(l *lackedImage) bool { return l.fix == st.Fix && l.reason == st.Reason })
		if i < 0 {
			i = len(all)
			all = append(all, &lackedImage{name: name, reason: st.Reason, fix: st.Fix, build: st.Build})
		}
		return all[i]
	}
	for _, x := range p.Excluded {
		name := x.Levels[engine.Image]
		if st, no := state(name); no && x.Workload == "" && x.Kind == study.Unavailable && x.Reason == imageReason(name, st) {
			of(name, st).environments++
		}
	}
	excluded := len(p.Excluded)
	takes := s.imageTakers()
	rows, left, lost := len(p.Cells), map[string]bool{}, map[string]*lackedImage{}
	var wrong error
	p.DropCells(func(e *record.Environment, w *record.Workload) (reason, fix string) {
		known, err := workload.Of(*w)
		if err != nil {
			wrong = err
			return "", ""
		}
		name := run.ImageFor(e, known, takes[e.Engine])
		st, no := state(name)
		if name == "" || !no {
			left[w.ID] = true
			return "", ""
		}
		l := of(name, st)
		l.rows++
		lost[w.ID] = l
		return imageReason(name, st), st.Fix
	})
	for id, l := range lost {
		if !left[id] {
			l.workloads++
			left[id] = false // it is one of all
		}
	}
	for i, l := range all {
		l.ofRows, l.ofWorkloads, l.ofEnvironments = rows, len(left), len(p.Environments)+excluded
		p.Remarks = slices.Insert(p.Remarks, i, l.remark())
	}
	s.lacking = all
	return wrong
}

// imageTakers are the engines that can be given an image.
func (s *setting) imageTakers() map[string]bool {
	out := map[string]bool{}
	for _, e := range s.engines {
		info := e.Info()
		out[info.Name] = len(info.Levels[engine.Image]) > 0 && !info.Simulated
	}
	return out
}

// imageReason says why an image can't be used.
func imageReason(name string, st imagestore.State) string {
	return "the image " + name + ": " + st.Reason
}

// text says what is lost.
func (l *lackedImage) text() string {
	var parts []string
	if l.rows > 0 {
		part := fmt.Sprintf("%d of %d rows", l.rows, l.ofRows)
		if l.workloads > 0 {
			part = fmt.Sprintf("%d of %d workloads (%s)", l.workloads, l.ofWorkloads, part)
		}
		parts = append(parts, part)
	}
	if l.environments > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d environments", l.environments, l.ofEnvironments))
	}
	return fmt.Sprintf("%s can't run without the image %s: %s", strings.Join(parts, " and "), harmless.Text(l.name), l.reason)
}

// cost says how long building it takes, and how large it becomes.
func (l *lackedImage) cost() string {
	c := imagestore.CostOf(l.build)
	return fmt.Sprintf("about %s and %s of disk", left(c.Time-time.Second), sizeText(c.Disk))
}

// remark says it, for the plan.
func (l *lackedImage) remark() record.Remark {
	m := record.Remark{Code: imageMissing, Level: "warn", Text: l.text() + ".", Advice: l.fix}
	if l.build != "" {
		m.Text += " Building it takes " + l.cost() + "."
	}
	return m
}
