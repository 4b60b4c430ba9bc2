//go:build linux

package agent

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"plimsoll/internal/measure/collect"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/storage"
)

// Book holds the windows that are open. It is what answers, with or without a
// network before it.
type Book struct {
	name, version string
	machine       *storage.Machine
	sources       []storage.Source
	sampler       *collect.Collector // nil where nothing is sampled

	mu   sync.Mutex
	open map[string]*window
}

// The bounds of what clients can make an agent keep.
const (
	mostWindows   = 16
	longestWindow = time.Hour
)

type window struct {
	run     string
	job     string
	begun   int64
	before  storage.Snapshot
	remarks []string
	watch   *collect.Watch
	expiry  *time.Timer
}

// BookOptions are for NewBook.
type BookOptions struct {
	Name, Version string
	Sources       []storage.Source
	// Hz is how often a second the machine is sampled in a window; 0: never.
	Hz float64
}

// NewBook opens a book. Close it.
func NewBook(o BookOptions) (*Book, error) {
	b := &Book{name: o.Name, version: o.Version, machine: storage.Here(), sources: o.Sources, open: map[string]*window{}}
	if o.Hz > 0 {
		var err error
		if b.sampler, err = collect.New(collect.Options{Interval: time.Duration(float64(time.Second) / o.Hz), Processes: engine.Processes{None: true}}); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// Close gives every window up.
func (b *Book) Close() error {
	b.mu.Lock()
	for id, w := range b.open {
		b.give(id, w)
	}
	b.mu.Unlock()
	if b.sampler == nil {
		return nil
	}
	return b.sampler.Close()
}

// give gives a window up; mu is held.
func (b *Book) give(id string, w *window) {
	delete(b.open, id)
	w.expiry.Stop()
	if w.watch != nil {
		w.watch.End(w.begun)
	}
}

// About looks which sources this machine has.
func (b *Book) About(ctx context.Context) (*About, error) {
	a := &About{Name: b.name, Version: b.version}
	snap, errs := storage.Read(ctx, b.machine, b.sources, "")
	for _, s := range b.sources {
		state := SourceState{Name: s.Name, Verified: s.Verified(), Whole: s.Whole}
		switch err := errs[s.Name]; {
		case err != nil:
			state.Absent = err.Error()
		case snap[s.Name] == nil:
			state.Absent = "it counts nothing"
		}
		a.Sources = append(a.Sources, state)
	}
	return a, nil
}

// clock tells the time, ns of CLOCK_MONOTONIC.
func (b *Book) clock() ClockAnswer { return ClockAnswer{Now: now()} }

// errFull is returned where too many windows are open.
var errFull = errors.New("too many windows are open: end one, or wait for an hour")

// Begin reads all counters and opens a window.
func (b *Book) Begin(ctx context.Context, ask BeginAsk) (*BeginAnswer, error) {
	b.mu.Lock()
	for id, w := range b.open {
		if w.run == ask.Run {
			b.give(id, w)
		}
	}
	full := len(b.open) >= mostWindows
	b.mu.Unlock()
	if full {
		return nil, errFull
	}
	w := &window{run: ask.Run, job: ask.Job}
	if b.sampler != nil {
		w.watch = b.sampler.Watch(collect.Subject{Parts: []collect.Part{collect.Host}})
	}
	var errs map[string]error
	w.before, errs = storage.Read(ctx, b.machine, b.sources, ask.Job)
	w.remarks = failures(errs)
	w.begun = now()
	id := rand.Text()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.open[id] = w
	w.expiry = time.AfterFunc(longestWindow, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.open[id] == w {
			b.give(id, w)
		}
	})
	return &BeginAnswer{Window: id, Begun: w.begun}, nil
}

// errUnknown is returned for a window that is not open.
var errUnknown = errors.New("there is no such window: it was ended, or given up after an hour or for another one of the same run")

// End reads all counters again and says what was counted since Begin.
func (b *Book) End(ctx context.Context, ask EndAsk) (*Window, error) {
	b.mu.Lock()
	w := b.open[ask.Window]
	delete(b.open, ask.Window)
	b.mu.Unlock()
	if w == nil {
		return nil, errUnknown
	}
	w.expiry.Stop()
	out := &Window{Begun: w.begun, Ended: now()}
	after, errs := storage.Read(ctx, b.machine, b.sources, w.job)
	if w.watch != nil {
		s := w.watch.End(w.begun)
		s.Collector = "agent-" + b.name
		out.Series = &s.Series
	}
	out.Sources, out.Remarks = storage.Counted(b.sources, w.before, after)
	for _, r := range append(w.remarks, failures(errs)...) {
		if !slices.Contains(out.Remarks, r) {
			out.Remarks = append(out.Remarks, r)
		}
	}
	return out, nil
}

// failures are those errors of a reading that are more than an absence.
func failures(errs map[string]error) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(errs)) {
		if err := errs[name]; !storage.Absent(err) {
			out = append(out, fmt.Sprintf("%s could not be read: %v", name, err))
		}
	}
	return out
}
