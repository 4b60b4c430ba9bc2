package features

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/record"
)

// bench is where one engine is tried: its commands, the images that it is
// given and what several attempts share.
type bench struct {
	kit      *engine.Kit
	name     string // the engine's
	engine   engine.Engine
	where    string // its socket or program, as detection found it
	dir      string
	env      []string
	hand     hand
	registry *registry
	samples  *samples
	// policy is the signature policy that signed images are tried with.
	policy string
	shared map[string]*shared
	order  []string // of shared, as prepared
	serial atomic.Int32
	// begin and end, where given, make a place of the run's own in the engine,
	// and take it away with what is in it.
	begin, end func(context.Context) error
}

// hand is how an engine's commands are spelled. What is nil an engine has not.
type hand struct {
	program []string // with its global options
	// provide hands an image over; its name is what the others take.
	provide func(t *try, s *sample) string
	// once runs a program in a new container that is removed at its end.
	once func(name, image string, opts []string, argv ...string) []string
	// keep starts a container that stays.
	keep func(name, image string, opts []string, argv ...string) []string
	// inside runs a program in one that runs.
	inside func(name string, argv ...string) []string
	remove func(name string) [][]string
	pull   func(ref string) []string
	drop   func(image string) [][]string
	// limits are options that a container, or a step of a build, needs here.
	limits []string
	// pid is the command that tells a container's process, without its name.
	pid  []string
	push func(image, ref string) []string
	// layers gives the directories or files of a pulled image on the disk.
	layers func(t *try, ref string) []string
	// unpacked is where a file in an image's root appears when a layer is
	// unpacked: patterns of paths, the file's name last.
	unpacked func(t *try) []string
}

// argv is the program with its global options and these arguments.
func (h hand) argv(args []string) []string {
	return append(append([]string{}, h.program...), args...)
}

func (h hand) cmd(args ...string) []string { return h.argv(args) }

// fresh is a name that nobody else has, for a container of the run. The ledger
// is told of it, since one will be made.
func (b *bench) fresh() string { return b.enter(engine.KindContainer, b.unique()) }

// unique is a name of the run's own for something else.
func (b *bench) unique() string {
	return fmt.Sprintf("plimsoll-%s-%s-%d", b.kit.RunID, b.name, b.serial.Add(1))
}

// tag is a reference of the run's own, of which the ledger is told.
func (b *bench) tag(name string) string {
	return b.enter(engine.KindImage, "localhost/plimsoll/"+b.name+"-"+name+":"+b.kit.RunID)
}

// label is the run's, as a command takes it.
func (b *bench) label() string { return engine.Label + "=" + b.kit.RunID }

// shared is something that several attempts need: it is prepared once, by the
// first, and the evidence of it stands in each.
type shared struct {
	value    any
	evidence []record.FeatureEvidence
	failed   *ended
	undo     []func(context.Context)
}

// once prepares something that stays until the bench is closed.
func once[T any](t *try, key string, prepare func(*try) T) T {
	s := t.b.shared[key]
	if s == nil {
		s = &shared{}
		t.b.shared[key] = s
		inner := &try{ctx: t.ctx, b: t.b, dir: t.b.dir}
		s.failed = inner.attempt(func(x *try) {
			s.value = prepare(x)
			x.end("", "")
		})
		s.evidence, s.undo = inner.evidence, inner.undo
		t.b.order = append(t.b.order, key)
		if s.failed.value == "" {
			s.failed = nil
		}
	}
	t.evidence = append(t.evidence, s.evidence...)
	if s.failed != nil {
		panic(*s.failed)
	}
	return s.value.(T)
}

// attempt carries an attempt out and gives its verdict.
func (t *try) attempt(a attempt) (v *ended) {
	defer func() {
		switch x := recover().(type) {
		case nil:
		case ended:
			v = &x
		default:
			panic(x)
		}
	}()
	a(t)
	return &ended{value: record.FeatureYes}
}

// image is the BusyBox image, as the engine names it.
func (t *try) image() string {
	return once(t, "image", func(t *try) string { return t.b.hand.provide(t, t.plainSample()) })
}

// running is a container that stays for all attempts that need one.
func (t *try) running() string {
	img := t.image()
	if t.b.hand.keep == nil {
		t.no("it has no containers that run by themselves")
	}
	return once(t, "running", func(t *try) string { return t.start(img) })
}

// container is the name of one that is about to be made and is taken away
// afterwards, where the engine does not do so by itself.
func (t *try) container() string {
	name := t.b.fresh()
	if t.b.hand.remove != nil {
		t.cleanAll(t.b.hand.remove(name))
	}
	return name
}

// start starts a container that stays, and takes it away afterwards.
func (t *try) start(img string, opts ...string) string {
	name := t.container()
	t.must(t.b.hand.keep(name, img, opts, "sleep", "3600")...)
	return name
}

// within runs a program in a container: a new one where the engine has such a
// command, else the one that stays.
func (t *try) within(argv ...string) said {
	if t.b.hand.once == nil {
		return t.hear(t.b.env, t.b.hand.inside(t.running(), argv...)...)
	}
	return t.hear(t.b.env, t.b.hand.once(t.b.fresh(), t.image(), nil, argv...)...)
}

// with runs a program in a new container with options.
func (t *try) with(opts []string, argv ...string) said {
	return t.hear(t.b.env, t.b.hand.once(t.b.fresh(), t.image(), opts, argv...)...)
}

// file writes a file below the attempt's directory and gives its path.
func (t *try) file(name, text string) string {
	p := filepath.Join(t.dir, name)
	t.need("writing a file", os.MkdirAll(filepath.Dir(p), 0o755))
	t.need("writing a file", os.WriteFile(p, []byte(text), 0o644))
	return p
}
