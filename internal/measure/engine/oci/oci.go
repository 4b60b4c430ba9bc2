// Package oci runs containers with a bare OCI runtime (runc, crun, youki,
// runsc): a bundle and the runtime's own command line, with no manager.
//
// It is opinionated about what belongs to a manager and is therefore not
// here: there is no seccomp profile, no network but an empty or the host's
// one, no writable layer (the image's root directory is mounted read-only, the
// level "directory"), no logging, and PID 1 is the payload. The rest of the
// configuration is docker's default. The bundle, which holds the trial's word,
// is written before the request: it is an input, as an image is.
package oci

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/record"
)

// Engine is the adapter.
type Engine struct {
	paths map[string]string // runtimes by name, where they are not searched for
}

// Option changes the adapter; studies can't.
type Option func(*Engine)

// WithRuntime uses the program at path as the runtime of this name: a wrapper
// that sleeps, to try the stopwatch.
func WithRuntime(name, path string) Option {
	return func(e *Engine) { e.paths[name] = path }
}

// New makes the adapter.
func New(opts ...Option) *Engine {
	e := &Engine{paths: map[string]string{}}
	for _, o := range opts {
		o(e)
	}
	return e
}

func names() []string {
	var ns []string
	for _, p := range programs {
		ns = append(ns, p.name)
	}
	return ns
}

// mechanisms are what can be taken away, from the outside in.
var mechanisms = append([]engine.Mechanism{
	engine.Exchanged(engine.Client, "steps", "run"),
}, slices.Concat(engine.LeftOut(engine.MaskedPaths, engine.SmallMounts, engine.Capabilities, engine.Keyring, engine.PivotRoot,
	engine.CgroupNamespace, engine.PIDNamespace, engine.IPCNamespace, engine.UTSNamespace, engine.GroupMaking),
	[]engine.Mechanism{engine.Exchanged(engine.Network, "none", "host"), engine.Exchanged(engine.Runtime, "runc", "crun")},
	engine.LeftOut(engine.OwnCgroup),
	engine.Added(engine.NoNewPrivileges, engine.Rlimits, engine.OOMScore, engine.SomeLimits, engine.UserNamespace, engine.IDMappedMount),
	engine.Filled(), []engine.Mechanism{engine.OtherRuntime("runc", "youki")})...)

// levels are the adapter's, its default first.
var levels = map[string][]string{
	engine.Without:  engine.WithoutLevels(mechanisms),
	engine.With:     engine.WithLevels(mechanisms),
	engine.Runtime:  names(),
	engine.Client:   {"steps", "run"},
	engine.Network:  {"none", "host"},
	engine.Storage:  {"directory"},
	engine.Seccomp:  {"off"},
	engine.Rootless: {"no"},
	engine.Image:    engine.ImageLevels(),
}

var rules = append(engine.OwnKernel(mechanisms, "runsc"), []engine.Rule{engine.OnlyOCI, {
	When:    map[string][]string{engine.Runtime: {"runc", "youki"}, engine.Without: {engine.OwnCgroup}},
	Because: "Of the runtimes only crun can run a container of root's in the control group of who calls it.",
	Source:  "https://github.com/containers/crun/blob/main/crun.1.md",
}, {
	When:    map[string][]string{engine.Runtime: {"youki"}, engine.Without: {engine.PivotRoot, engine.Keyring}},
	Because: "youki takes these options and does as without them.",
	Source:  "https://github.com/youki-dev/youki",
}, {
	When:    map[string][]string{engine.Runtime: {"runc", "youki"}, engine.With: {engine.IDMappedMount}},
	Because: "The adapter asks for ids that are mapped by crun's option of a mount; runc has none before 1.2, and then another one.",
	Source:  "https://github.com/containers/crun/blob/main/crun.1.md",
}, {
	When:    map[string][]string{engine.Network: {"host"}, engine.With: {engine.UserNamespace}},
	Because: "/sys can be mounted only by who owns the network namespace.",
	Source:  "https://man7.org/linux/man-pages/man7/user_namespaces.7.html",
}}...)

func (e *Engine) Info() engine.Info {
	return engine.Info{Name: "oci", Title: "OCI runtime", Levels: engine.Known(levels), Detached: true,
		Typical: 80 * time.Millisecond, InPlace: true, Images: engine.ImagesGiven,
		// gVisor starts itself anew as /proc/self/exe.
		Processes: engine.Processes{Helpers: []string{"runc", "crun", "youki", "runsc", "exe"}},
		OCI:       true, Mechanisms: mechanisms, Rules: rules, Programs: []engine.Program{{Of: engine.Runtime}}}
}

func (e *Engine) Detect(ctx context.Context, kit *engine.Kit) engine.Detection {
	d := engine.Detection{Facts: map[string]string{}, Levels: engine.AllUsable(levels)}
	delete(d.Levels, engine.Runtime) // by what is looked for below
	var versions, where []string
	for _, f := range e.look(ctx, kit) {
		d.Levels[engine.Runtime] = append(d.Levels[engine.Runtime], f.level)
		if !f.level.Usable {
			continue
		}
		d.Facts["version-"+f.level.Name] = f.version
		versions = append(versions, f.level.Name+" "+f.version)
		where = append(where, f.path)
	}
	d.Version, d.Where = strings.Join(versions, ", "), strings.Join(where, ", ")
	d.Usable = len(versions) > 0
	if !d.Usable {
		d.Reason, d.Fix = "no OCI runtime can be used", programs[0].fix
		for _, l := range d.Levels[engine.Runtime] {
			if l.Reason != "" {
				d.Reason, d.Fix = l.Reason, l.Fix
				break
			}
		}
	}
	return d
}

// found is a runtime on this machine.
type found struct {
	path, version string
	level         engine.Level
}

// look asks all runtimes at once: one that hangs does not keep the others from
// being asked.
func (e *Engine) look(ctx context.Context, kit *engine.Kit) []found {
	all := make([]found, len(programs))
	var wg sync.WaitGroup
	for i, p := range programs {
		wg.Go(func() {
			f := &all[i]
			f.path, f.level = e.find(ctx, kit, p)
			if !f.level.Usable {
				return
			}
			var err error
			if f.version, err = p.version(ctx, f.path); err != nil {
				f.level.Usable = false
				f.level.Reason, f.level.Fix = engine.Reason(err)
			}
		})
	}
	wg.Wait()
	return all
}

// find looks for a runtime and says whether it can be used.
func (e *Engine) find(_ context.Context, kit *engine.Kit, p program) (string, engine.Level) {
	l := engine.Level{Name: p.name}
	path, err := e.paths[p.name], error(nil)
	if path == "" {
		path, err = kit.LookPath(p.name)
	}
	switch {
	case err != nil:
		l.Reason, l.Fix = p.name+" is not installed", p.fix
	case !kit.Root:
		l.Reason, l.Fix = "a bare runtime without root is not supported; rootless containers are measured with podman", "sudo plimsoll …"
	default:
		if p.usable != nil {
			l.Reason, l.Fix = p.usable()
		}
		l.Usable = l.Reason == ""
	}
	return path, l
}

// refuse turns levels that can't be had into an error.
func (e *Engine) refuse(ctx context.Context, kit *engine.Kit, spec engine.Spec) (program, string, error) {
	for _, factor := range slices.Sorted(maps.Keys(spec.Levels)) {
		level := spec.Level(factor)
		if level == engine.DefaultLevel || factor == engine.Image || known(factor, level) {
			continue
		}
		return program{}, "", &engine.Error{Class: record.Unsupported, Text: fmt.Sprintf("a bare OCI runtime has no %s=%s", factor, level)}
	}
	p := programNamed(spec.Level(engine.Runtime))
	path, l := e.find(ctx, kit, p)
	if !l.Usable {
		return p, "", &engine.Error{Class: record.Unavailable, Text: l.Reason, Fix: l.Fix}
	}
	return p, path, nil
}

// known says whether the adapter has a level.
func known(factor, level string) bool {
	return !slices.ContainsFunc(engine.Parts(factor, level), func(p string) bool { return !slices.Contains(levels[factor], p) })
}

// cgroupNamespaces says whether the kernel has them.
func cgroupNamespaces() bool {
	_, err := os.Stat("/proc/self/ns/cgroup")
	return err == nil
}

func (e *environment) LimitsMemory() bool { return true }
