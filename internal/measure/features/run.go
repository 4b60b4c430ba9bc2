package features

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"plimsoll/internal/common/published"
	"plimsoll/internal/common/safepath"
	"plimsoll/internal/measure/child"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/record"
)

// Options say what is tried, and with what.
type Options struct {
	Kit *engine.Kit
	// All are the engines that there are adapters for.
	All []engine.Engine
	// Engines and Features narrow the table; empty is everything.
	Engines, Features []string
	// Tried is told of every cell when it is known.
	Tried func(engine, feature string, cell record.FeatureCell)

	// spoil lets a test break a bench before it is used.
	spoil func(*bench)
}

// hands are the engines that attempts are written for.
var hands = map[string]func(*bench){
	"docker": docker, "podman": podman, "containerd": containerd, "charliecloud": charlie, "apptainer": apptainer,
	"lxd": lxd("lxc", "LXD"), "incus": lxd("incus", "INCUS"),
}

// atOnce is how many engines are tried at the same time: most of it is
// waiting for their commands.
const atOnce = 3

// Run fills the table. An error says that nothing could be tried at all, or
// that ctx ended, and then the table is not whole; an attempt that fails is a
// cell.
func Run(ctx context.Context, o Options) (*record.Features, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	names, rows := o.choose()
	top := filepath.Join(o.Kit.Dir, "f")
	for _, d := range []string{"blobs", "samples"} {
		if err := os.MkdirAll(filepath.Join(top, d), 0o755); err != nil {
			return nil, fmt.Errorf("preparing the attempts: %w", err)
		}
	}
	reg, err := startRegistry(filepath.Join(top, "blobs"))
	if err != nil {
		return nil, fmt.Errorf("starting a registry on loopback: %w", err)
	}
	made := &samples{images: o.Kit.Images, dir: filepath.Join(top, "samples"), made: map[string]*sample{}}

	columns := make([]column, len(names))
	slots := make(chan struct{}, atOnce)
	var wg sync.WaitGroup
	for i, name := range names {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			columns[i] = o.column(ctx, name, rows, &bench{
				kit: o.Kit, name: name, dir: filepath.Join(top, name), registry: reg, samples: made,
				policy: signedOnly, shared: map[string]*shared{},
			})
		})
	}
	wg.Wait()
	return table(rows, columns), errors.Join(reg.close(), ctx.Err())
}

// Check says whether the engines and features that were asked for are known.
func (o *Options) Check() error {
	for _, n := range o.Engines {
		if !slices.Contains(Engines(), n) {
			return fmt.Errorf("no features are known of %q: expected one of %s", n, strings.Join(Engines(), ", "))
		}
	}
	for _, id := range o.Features {
		if !slices.Contains(IDs(), id) {
			return fmt.Errorf("there is no feature %q: expected one of %s", id, strings.Join(IDs(), ", "))
		}
	}
	return nil
}

// IDs lists the ids of all features.
func IDs() []string {
	var ids []string
	for _, f := range all() {
		ids = append(ids, f.ID)
	}
	return ids
}

// choose gives the engines and the rows that were asked for.
func (o *Options) choose() (names []string, rows []feature) {
	names, rows = Engines(), all()
	if len(o.Engines) > 0 {
		names = slices.DeleteFunc(names, func(n string) bool { return !slices.Contains(o.Engines, n) })
	}
	if len(o.Features) > 0 {
		rows = slices.DeleteFunc(rows, func(f feature) bool { return !slices.Contains(o.Features, f.ID) })
	}
	return names, rows
}

// column is what came out for one engine.
type column struct {
	engine record.FeatureEngine
	cells  []record.FeatureCell // by row
}

func (o *Options) column(ctx context.Context, name string, rows []feature, b *bench) column {
	c := column{engine: record.FeatureEngine{Name: name}, cells: make([]record.FeatureCell, len(rows))}
	b.detect(ctx, o.All, &c.engine)
	if c.engine.Missing == "" && o.spoil != nil {
		o.spoil(b)
	}
	for i, f := range rows {
		cell := record.FeatureCell{Value: record.FeatureUntried, Why: c.engine.Missing}
		if c.engine.Missing == "" && ctx.Err() == nil {
			cell = b.cell(ctx, f, i)
		}
		cell.Published = publishedFor(f.Title, name)
		c.cells[i] = cell
		if o.Tried != nil && c.engine.Missing == "" {
			o.Tried(name, f.ID, cell)
		}
	}
	// Taking away goes on though the user has interrupted.
	ctx, cancel := child.Within(context.WithoutCancel(ctx), attemptLimit)
	defer cancel()
	b.close(ctx)
	return c
}

// detect looks for the engine, and readies its commands.
func (b *bench) detect(ctx context.Context, all []engine.Engine, e *record.FeatureEngine) {
	i := slices.IndexFunc(all, func(x engine.Engine) bool { return x.Info().Name == b.name })
	if i < 0 {
		e.Missing = "there is no adapter for it"
		return
	}
	b.engine = all[i]
	ctx, cancel := context.WithTimeout(ctx, engine.DetectLimit)
	defer cancel()
	d := b.engine.Detect(ctx, b.kit)
	e.Version, e.Facts = d.Version, d.Facts
	switch {
	case !d.Usable:
		e.Missing, e.Fix = "not usable here: "+d.Reason, d.Fix
		return
	case hands[b.name] == nil:
		e.Missing = "no attempts are written for it: they could never be run against the real engine"
		return
	}
	b.where = d.Where
	if err := os.MkdirAll(filepath.Join(b.dir, "home"), 0o755); err != nil {
		e.Missing = "preparing the attempts: " + err.Error()
		return
	}
	hands[b.name](b)
	if b.begin != nil {
		if err := b.begin(ctx); err != nil {
			e.Missing = "preparing the attempts: " + err.Error()
		}
	}
}

// attemptOf is a row's attempt for an engine.
func (f feature) attemptOf(name string) attempt {
	for _, n := range []string{name, kin[name]} {
		if a := f.By[n]; a != nil {
			return a
		}
	}
	return f.Any
}

// kin are engines whose commands are another's.
var kin = map[string]string{"incus": "lxd"}

// cell carries one attempt out and takes away what it made.
func (b *bench) cell(ctx context.Context, f feature, number int) record.FeatureCell {
	a := f.attemptOf(b.name)
	if a == nil {
		return record.FeatureCell{Value: record.FeatureUntried, Why: "no attempt is written for it"}
	}
	limited, cancel := child.Within(ctx, attemptLimit)
	defer cancel()
	t := &try{ctx: limited, b: b, dir: filepath.Join(b.dir, strconv.Itoa(number))}
	if err := os.MkdirAll(t.dir, 0o755); err != nil {
		return record.FeatureCell{Value: record.FeatureUntried, Why: "preparing the attempt: " + err.Error()}
	}
	v := t.attempt(a)
	over, stop := child.Within(context.WithoutCancel(ctx), attemptLimit)
	defer stop()
	for _, u := range slices.Backward(t.undo) {
		u(over)
	}
	if err := safepath.RemoveAll(t.dir); err != nil {
		v.why += " (and taking away its files failed: " + err.Error() + ")"
	}
	return record.FeatureCell{Value: v.value, Why: v.why, Lacking: v.lacking, Evidence: t.evidence}
}

// close takes away what the attempts shared, the last thing first, and the
// engine's directory.
func (b *bench) close(ctx context.Context) {
	for _, key := range slices.Backward(b.order) {
		for _, u := range slices.Backward(b.shared[key].undo) {
			u(ctx)
		}
	}
	if b.end != nil {
		_ = b.end(ctx) // else the sweep at the end does, and says so
	}
	_ = safepath.RemoveAll(b.dir) // the run's directory goes as a whole, and says so
}

// publishedFor is the published value of a cell, or "".
func publishedFor(title, name string) string {
	for _, f := range published.Features() {
		if f.Name == title {
			return f.Cells[published.Engine(name)]
		}
	}
	return ""
}

// table turns columns into rows.
func table(rows []feature, columns []column) *record.Features {
	t := &record.Features{Schema: record.FeaturesSchema}
	for _, c := range columns {
		t.Engines = append(t.Engines, c.engine)
	}
	for i, f := range rows {
		r := record.FeatureRow{Group: f.Group, Feature: f.Title, ID: f.ID, Means: f.Means, Cells: map[string]record.FeatureCell{}}
		for _, c := range columns {
			r.Cells[c.engine.Name] = c.cells[i]
		}
		t.Rows = append(t.Rows, r)
	}
	return t
}
