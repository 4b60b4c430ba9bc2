package portable

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/record"
)

// runner is one client of an engine: it carries a container through its life.
type runner interface {
	run(ctx context.Context, task engine.Task) (engine.Result, error)
	exec(ctx context.Context, task engine.Task, argv []string) (engine.Result, map[string]float64, error)
}

// environment is an engine in one configuration, ready for trials.
type environment struct {
	runner
	rec *record.Environment
	d   *Daemon // nil where there is the command alone
	// images are the tags by name; settings are the runner's, of which each trial
	// sets the image.
	settings *settings
	boot     string // of the kernel that its first container ran on, if that is the engine's
}

// loadLimit bounds what an image may take on its way to a daemon.
const loadLimit = 15 * time.Minute

// open makes an environment ready.
func (r *run) open(ctx context.Context, rec *record.Environment) (*environment, error) {
	f := r.Look.Found(rec.Engine)
	level := clientLevel(rec.Engine, rec.Levels)
	p := r.Plan.Protocol
	levels, limits, err := engine.Limited(maps.Clone(rec.Levels), engine.Limits{CPUs: p.CPUs, MemoryBytes: p.MemoryBytes})
	if err != nil {
		return nil, err
	}
	spec := engine.Spec{ID: rec.ID, Levels: levels, Limits: limits}.Limiting()
	env := &environment{rec: rec}
	rec.Clock = record.ClockForeign
	rec.Facts = map[string]string{"client": level, "reached": f.Kind, "host": f.Where, "host-by": f.By,
		"clock": "the client's alone", "timer": "this program's own, without a launcher"}
	maps.Copy(rec.Facts, f.Facts)
	if f.Reason == "" {
		if env.d, err = f.address.Connect(r.Run.ID); err == nil {
			err = env.d.Greet(ctx)
		}
		if err != nil {
			return env, err
		}
	}
	s := settingsFor(spec, r.Run.ID, "")
	switch {
	case level == byAPILevel && env.d == nil:
		return env, unavailable(nil, f.Fix, "%s", f.Reason)
	case level == byAPILevel:
		api := &byAPI{d: env.d, settings: s, ledger: r.ledger}
		env.runner, env.settings = api, &api.settings
	default:
		program, err := r.Look.Around.command(f.address, r.Run.ID)
		if err != nil {
			return env, err
		}
		cli := &byCommand{p: program, settings: s, ledger: r.ledger, thing: r.things(f, level)}
		env.runner, env.settings = cli, &cli.settings
		if out, err := program.ask(ctx, "--version"); err == nil {
			rec.Facts["cli-version"] = out
		}
	}
	at, address := r.things(f, level)("", "").At, f.address
	address.Server = daemonOf(f.id)
	if err := r.elsewhere(at, address.Server); err != nil {
		return env, err
	}
	return env, r.ledger.Reached(at, reach{Address: address, Program: level == byCLILevel})
}

// things makes the ledger's entries of an environment: what a command of Podman's has
// made without a service is found again by the command.
func (r *run) things(f *Found, level string) func(kind, name string) engine.Thing {
	at := f.Where
	if level == byCLILevel {
		at = "command " + at
	}
	return func(kind, name string) engine.Thing {
		return engine.Thing{Kind: kind, Name: name, Engine: f.Engine, At: at}
	}
}

// thing is the ledger's entry of what the API has made.
func (d *Daemon) thing(kind, name string) engine.Thing {
	return engine.Thing{Kind: kind, Name: name, Engine: d.At.Engine, At: d.At.Host}
}

// provide sends an image to the store of an environment, once for each client, since
// Podman's command may have another store than the service that answers.
func (r *run) provide(ctx context.Context, env *environment, name string) (string, error) {
	tag := r.Look.Images.tag(name)
	cli, byCommand := env.runner.(*byCommand)
	var d *Daemon
	var thing engine.Thing
	if byCommand {
		thing = cli.thing(engine.KindImage, tag)
	} else {
		d = env.runner.(*byAPI).d
		thing = d.thing(engine.KindImage, tag)
	}
	if r.provided[thing] {
		return tag, nil
	}
	ctx, cancel := context.WithTimeout(ctx, loadLimit)
	defer cancel()
	img, err := r.Look.Images.get(ctx, name)
	if err != nil {
		return "", unavailable(err, "", "providing the image %s", name)
	}
	if err := r.ledger.Made(thing); err != nil {
		return "", err
	}
	r.provided[thing] = true
	if byCommand {
		err = cli.p.load(ctx, img, tag)
		r.removals = append(r.removals, func(ctx context.Context) error { return r.gone(cli.p.removeImage(ctx, tag), thing) })
	} else {
		err = d.load(ctx, img, tag)
		r.removals = append(r.removals, func(ctx context.Context) error { return r.gone(d.removeImage(ctx, tag), thing) })
	}
	return tag, err
}

// gone strikes out what could be removed.
func (r *run) gone(err error, thing engine.Thing) error {
	if err != nil {
		return err
	}
	return r.ledger.Gone(thing)
}

// load sends an image by the command, from a file.
func (p *program) load(ctx context.Context, img v1.Image, tag string) (err error) {
	f, err := os.CreateTemp("", "plimsoll-image-*.tar")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close(), os.Remove(f.Name())) }()
	if err := write(img, tag, f); err != nil {
		return fmt.Errorf("writing the image %s: %w", tag, err)
	}
	_, err = p.ask(ctx, "load", "-i", f.Name())
	return err
}
