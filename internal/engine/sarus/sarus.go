// Package sarus runs containers with Sarus, a container engine for
// supercomputers.
//
// It is opinionated, and it is unverified: it was written from Sarus' user
// guide and tried on a program that answers as the guide says, never on Sarus
// itself. Sarus keeps each image as a SquashFS file in a repository of the
// user's; it makes no network namespace; and it has no stop, so that a stop is
// a signal to `sarus run`.
package sarus

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"plimsoll/internal/engine"
	"plimsoll/internal/engine/clirun"
	"plimsoll/internal/engine/wrap"
	"plimsoll/internal/image"
	"plimsoll/internal/probe"
	"plimsoll/internal/record"
)

const (
	title   = "Sarus"
	program = "sarus"
	fix     = "install Sarus (https://sarus.readthedocs.io)"
)

// Engine is the adapter.
type Engine struct {
	mu     sync.Mutex
	images map[string]int // environments that use an image, by user and reference
}

// New makes the adapter.
func New() *Engine { return &Engine{images: map[string]int{}} }

var levels = map[string][]string{
	engine.Storage:  {"squashfs"},
	engine.Network:  {"host", "none"},
	engine.Rootless: {"no", "yes"},
	engine.Client:   {"cli"},
	engine.Image:    engine.ImageLevels(),
}

// Info is documented in engine.Engine.
func (*Engine) Info() engine.Info {
	known := map[string][]string{}
	for f, ls := range levels {
		known[f] = slices.Clone(ls)
	}
	return engine.Info{Name: "sarus", Title: title, Levels: known, Unverified: true}
}

// Detect is documented in engine.Engine.
func (*Engine) Detect(ctx context.Context, kit *engine.Kit) engine.Detection {
	d := engine.Detection{Levels: map[string][]engine.Level{}, Facts: map[string]string{"daemon": "none"}}
	for factor, ls := range levels {
		for _, l := range ls {
			d.Levels[factor] = append(d.Levels[factor], engine.Level{Name: l, Usable: true})
		}
	}
	d.Levels[engine.Rootless] = clirun.RootlessLevels(kit)
	none := &d.Levels[engine.Network][1]
	none.Usable, none.Reason = false, "Sarus makes no network namespace: its containers have the host's network"
	path, err := kit.LookPath(program)
	if err != nil {
		d.Reason, d.Fix = program+" is not installed", fix
		return d
	}
	d.Where = path
	out, err := (&sarus{path: path}).run(ctx, kit, "--version")
	if err != nil {
		d.Reason = fmt.Sprintf("asking %s for its version: %v", path, err)
		return d
	}
	d.Version, d.Usable = strings.TrimSpace(out), true
	return d
}

// sarus is the program, run by one user. Each user has an own repository.
type sarus struct {
	path string
	user *engine.User
}

func (s *sarus) command(kit *engine.Kit, args ...string) probe.Command {
	return clirun.As(probe.Command{Argv: append([]string{s.path}, args...), Dir: "/"}, s.user, kit)
}

// commandLimit bounds what is not measured.
const commandLimit = 2 * time.Minute

// run runs the program for something that is not measured.
func (s *sarus) run(ctx context.Context, kit *engine.Kit, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, commandLimit)
	defer cancel()
	c := s.command(kit, args...)
	cmd := exec.CommandContext(ctx, c.Argv[0], c.Argv[1:]...)
	cmd.Env, cmd.Dir = c.Env, c.Dir
	if c.SetUser {
		cred := &syscall.Credential{Uid: uint32(c.UID), Gid: uint32(c.GID)}
		for _, g := range c.Groups {
			cred.Groups = append(cred.Groups, uint32(g))
		}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: cred}
	}
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = fmt.Errorf("sarus %s: %w: %s", args[0], err, clirun.Words(exit.Stderr))
	}
	return string(out), err
}

// loaded is how Sarus calls an image that was loaded as NAME.
const loaded = "load/library/"

// references lists the images of the repository, as run and rmi take them:
// the first two columns of `sarus images`.
func (s *sarus) references(ctx context.Context, kit *engine.Kit) ([]string, error) {
	out, err := s.run(ctx, kit, "images")
	if err != nil {
		return nil, err
	}
	return parseImages(out), nil
}

func parseImages(table string) []string {
	var refs []string
	for i, line := range strings.Split(table, "\n") {
		if f := strings.Fields(line); i > 0 && len(f) >= 2 {
			refs = append(refs, f[0]+":"+f[1])
		}
	}
	return refs
}

// environment is Sarus in one configuration.
type environment struct {
	*clirun.Base
	s       *sarus
	ref     string
	closing sync.Once
	release func(context.Context) error
}

// Open is documented in engine.Engine.
func (e *Engine) Open(ctx context.Context, kit *engine.Kit, spec engine.Spec) (engine.Environment, error) {
	d := e.Detect(ctx, kit)
	if !d.Usable {
		return nil, &engine.Error{Class: record.Unavailable, Text: d.Reason, Fix: d.Fix}
	}
	if err := engine.Refuse(e.Info(), d, spec); err != nil {
		return nil, err
	}
	user, err := clirun.Identity(kit, spec)
	if err != nil {
		return nil, &engine.Error{Class: record.Unavailable, Text: spec.ID, Err: err}
	}
	env := &environment{s: &sarus{path: d.Where, user: user}}
	if env.ref, env.release, err = e.provide(ctx, kit, env.s, engine.ImageName(spec)); err != nil {
		return nil, err
	}
	if env.Base, err = clirun.NewBase(ctx, kit, spec, true); err == nil {
		env.AddFacts(map[string]string{engine.HeldFact: engine.HeldByUs, "version": d.Version, "client": "cli", "network": "host", "storage": "squashfs",
			"rootless": "no", "user": "root", "daemon": "none", "init": "none", "log": "none"})
		if user != nil {
			env.AddFacts(map[string]string{"rootless": "yes", "user": user.Name})
		}
		err = env.prove(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, env.Close(context.WithoutCancel(ctx)))
	}
	return env, nil
}

// provide loads an image into the user's repository, once for all
// environments.
func (e *Engine) provide(ctx context.Context, kit *engine.Kit, s *sarus, name string) (string, func(context.Context) error, error) {
	path, err := kit.Images.Path(ctx, name, image.DockerArchive)
	if err != nil {
		return "", nil, &engine.Error{Class: record.Unavailable, Text: "providing the image " + name + " as a docker archive", Err: err}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	short := "plimsoll-" + name + ":" + kit.RunID
	ref := loaded + short
	key := s.who() + " " + ref
	release := func(ctx context.Context) error {
		e.mu.Lock()
		defer e.mu.Unlock()
		return e.letGo(ctx, kit, s, key, ref)
	}
	if e.images[key]++; e.images[key] == 1 {
		if err := kit.Ledger.Made("image", "sarus "+key); err != nil {
			return "", nil, err
		}
		if _, err := s.run(ctx, kit, "load", path, short); err != nil {
			err = &engine.Error{Class: record.EngineError, Text: "loading the image " + name, Err: err}
			return "", nil, errors.Join(err, e.letGo(context.WithoutCancel(ctx), kit, s, key, ref))
		}
	}
	return ref, release, nil
}

func (e *Engine) letGo(ctx context.Context, kit *engine.Kit, s *sarus, key, ref string) error {
	if e.images[key]--; e.images[key] > 0 {
		return nil
	}
	delete(e.images, key)
	if err := s.remove(ctx, kit, ref); err != nil {
		return err
	}
	return kit.Ledger.Gone("image", "sarus "+key)
}

func (s *sarus) remove(ctx context.Context, kit *engine.Kit, ref string) error {
	refs, err := s.references(ctx, kit)
	if err == nil && slices.Contains(refs, ref) {
		_, err = s.run(ctx, kit, "rmi", ref)
	}
	return err
}

func (s *sarus) who() string {
	if s.user != nil {
		return s.user.Name
	}
	return "root"
}

// prove records what the payload saw. What its root file system is called
// where Sarus lays a layer in memory over the SquashFS is not judged, since
// nobody has seen it.
func (e *environment) prove(ctx context.Context) error {
	p, err := clirun.Prove(ctx, e.Kit, e, e.Spec.ID)
	if err != nil {
		return err
	}
	if ns, host := p.Report["ns.net"], clirun.HostNow(); ns != host.Net {
		return &engine.Error{Class: record.WrongComponent,
			Text: fmt.Sprintf("the network is to be the host's (%s), and the payload saw the network namespace %s", host.Net, ns)}
	}
	e.AddFacts(map[string]string{"root-fs": p.Report["root.fs"], "seccomp-inside": p.Report["seccomp"]})
	return nil
}

// Close is documented in engine.Environment.
func (e *environment) Close(ctx context.Context) error {
	var errs []error
	e.closing.Do(func() {
		if e.Base != nil {
			errs = append(errs, e.Base.Close(ctx))
		}
		errs = append(errs, e.release(ctx))
	})
	return errors.Join(errs...)
}

// Leftovers is documented in engine.Engine: images, in root's repository and
// the ordinary user's.
func (*Engine) Leftovers(ctx context.Context, kit *engine.Kit, runID string) ([]engine.Leftover, error) {
	left := wrap.Leftovers(runID)
	path, err := kit.LookPath(program)
	if err != nil {
		return left, nil //nolint:nilerr // not installed, so nothing was made
	}
	users := []*engine.User{kit.User}
	if kit.Root {
		users = append(users, nil)
	}
	var errs []error
	for _, user := range users {
		if user == nil && !kit.Root {
			continue
		}
		s := &sarus{path: path, user: user}
		refs, err := s.references(ctx, kit)
		errs = append(errs, err)
		for _, ref := range refs {
			if !strings.HasPrefix(ref, loaded+"plimsoll-") || !strings.HasSuffix(ref, ":"+runID) && runID != "" {
				continue
			}
			left = append(left, engine.Leftover{Kind: "image", Name: "sarus " + ref,
				Remove: func(ctx context.Context) error { return s.remove(ctx, kit, ref) }})
		}
	}
	return left, errors.Join(errs...)
}
