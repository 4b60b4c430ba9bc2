// Package charliecloud runs containers with ch-run, as users of
// high-performance computers do.
//
// It is opinionated: ch-run is used with its defaults, which share the host's
// network, processes and /tmp; that its containers start fast is partly
// because they isolate little, and the facts say so. Charliecloud has no way
// to stop a container, so a stop is a signal to the payload itself, and where
// ch-run stays between (SquashFS) there is none.
package charliecloud

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/internal/measure/child"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/clirun"
	"plimsoll/internal/measure/engine/userns"
	"plimsoll/internal/measure/image"
	"plimsoll/internal/record"
)

const (
	title   = "Charliecloud"
	program = "ch-run"
	fix     = "apt-get install charliecloud"
)

// Engine is the adapter. Mounts are in the containers' own namespaces and go with
// them.
type Engine struct{ engine.NothingLeft }

// New makes the adapter.
func New() *Engine { return &Engine{} }

// mechanisms are what can be taken away, from the outside in, and what can be added.
var mechanisms = slices.Concat([]engine.Mechanism{engine.Exchanged(engine.Storage, "squashfs", "directory")},
	engine.LeftOut(engine.PasswdFiles),
	engine.Added(engine.PrivateTmp, engine.OwnHome, engine.WritableLayer), engine.Filled())

// changeArgs are the options for them.
var changeArgs = map[string]string{engine.PasswdFiles: "--no-passwd", engine.PrivateTmp: "--private-tmp", engine.OwnHome: "--home",
	engine.WritableLayer: "--write-fake"}

var levels = map[string][]string{
	engine.Without:  engine.WithoutLevels(mechanisms),
	engine.With:     engine.WithLevels(mechanisms),
	engine.Storage:  {"directory", "squashfs"},
	engine.Network:  {"host", "none"},
	engine.Rootless: {"no", "yes"},
	engine.Client:   {"cli"},
	engine.Image:    engine.ImageLevels(),
}

func (*Engine) Info() engine.Info {
	return engine.Info{Name: "charliecloud", Title: title, Levels: engine.Known(levels),
		Typical: 40 * time.Millisecond, InPlace: true, Images: engine.ImagesPulled,
		Mechanisms: mechanisms, Programs: []engine.Program{{Name: program, Unnamed: true}},
		Processes: engine.Processes{Helpers: []string{"ch-run", "squashfuse"}},
		Rules: []engine.Rule{{
			When:    map[string][]string{engine.Network: {"none"}},
			Because: "ch-run makes no network namespace: its containers have the host's network.",
			Source:  "https://charliecloud.io/latest/ch-run.html",
		}}}
}

func (*Engine) Detect(ctx context.Context, kit *engine.Kit) engine.Detection {
	d := engine.Detection{Levels: engine.AllUsable(levels), Facts: map[string]string{}}
	d.Levels[engine.Rootless] = adapter.RootlessLevels(kit)
	none := &d.Levels[engine.Network][1]
	none.Usable, none.Reason = false, "ch-run makes no network namespace: its containers have the host's network"
	if !adapter.Found(ctx, kit, &d, program, fix, version) {
		return d
	}
	for i := range d.Levels[engine.With] {
		if l := &d.Levels[engine.With][i]; l.Name == engine.WritableLayer && !has(ctx, d.Where, changeArgs[l.Name]) {
			l.Usable, l.Reason = false, "this ch-run has no "+changeArgs[l.Name]
		}
	}
	if squash := &d.Levels[engine.Storage][1]; squash.Usable {
		squash.Reason, squash.Fix = noSquash(ctx, d.Where)
		squash.Usable = squash.Reason == ""
	}
	if why, how := userns.Forbidden("ch-run"); why != "" {
		if !kit.Root {
			d.Reason, d.Fix = why, how
			return d
		}
		yes := &d.Levels[engine.Rootless][1]
		yes.Usable, yes.Reason, yes.Fix = false, why, how
		// ch-run makes two for root, too, one in the other.
		if d.Reason, d.Fix = userns.ForbiddenNested(); d.Reason != "" {
			return d
		}
	}
	d.Usable = true
	return d
}

func version(ctx context.Context, path string) (string, error) {
	out, err := tool(ctx, path, "--version")
	return strings.TrimSpace(out), err
}

// noSquash says why ch-run can't mount a SquashFS image.
func noSquash(ctx context.Context, path string) (reason, fix string) {
	// No version says by --feature whether it has SquashFS; the option is
	// there only where it has.
	help, err := tool(ctx, path, "--help")
	if err != nil {
		return fmt.Sprintf("asking %s for its options: %v", path, err), ""
	}
	if !strings.Contains(help, "SquashFS mount point") {
		return "this ch-run was built without SquashFS", "build Charliecloud with libsquashfuse"
	}
	if unix.Access("/dev/fuse", unix.R_OK|unix.W_OK) != nil {
		return "/dev/fuse can't be opened", fuseFix()
	}
	return "", ""
}

// has says whether ch-run has an option.
func has(ctx context.Context, path, option string) bool {
	help, err := tool(ctx, path, "--help")
	return err == nil && strings.Contains(help, option)
}

// tool runs ch-run for something that is not measured. It refuses to say even
// its version where USER is not set.
func tool(ctx context.Context, path string, args ...string) (string, error) {
	out, err := child.Run(ctx, child.Command{Argv: append([]string{path}, args...), Env: []string{adapter.Path, "USER=root", "HOME=/"},
		Limit: engine.DetectLimit, Together: true})
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, adapter.Words(out.Stdout))
	}
	return string(out.Stdout), nil
}

// environment is Charliecloud in one configuration.
type environment struct {
	*clirun.Base
	path   string
	image  string
	user   *engine.User
	squash bool
	mount  string // where ch-run mounts a SquashFS image, in its own namespace

	fake bool // ch-run has --write-fake

	pulls   string     // what ch-image keeps
	forward *forwarder // nil until something was pulled
	behind  string     // HOST:PORT of the registry behind it
}

func (e *Engine) Open(ctx context.Context, kit *engine.Kit, spec engine.Spec) (engine.Environment, error) {
	d := e.Detect(ctx, kit)
	if err := engine.Refuse(e.Info(), d, spec); err != nil {
		return nil, err
	}
	user, err := adapter.Identity(kit, spec)
	if err != nil {
		return nil, &engine.Error{Class: record.Unavailable, Text: spec.ID, Err: err}
	}
	env := &environment{path: d.Where, user: user, squash: spec.Level(engine.Storage) == "squashfs",
		mount: filepath.Join(kit.Dir, "charliecloud-"+strings.ReplaceAll(spec.ID, "/", "-")), pulls: filepath.Join(kit.Dir, "charliecloud-pulls-"+strings.ReplaceAll(spec.ID, "/", "-"))}
	format, storage := image.Directory, "directory"
	if env.squash {
		format, storage = image.SquashFS, "squashfs"
	}
	if env.image, err = kit.SpecImage(ctx, spec, format, user); err != nil {
		return nil, err
	}
	if env.Base, err = clirun.NewBase(ctx, kit, spec, true); err != nil {
		return nil, err
	}
	env.fake = has(ctx, d.Where, "--write-fake")
	env.AddFacts(map[string]string{engine.HeldFact: engine.HeldByUs, "version": d.Version, "client": "cli", "network": "host", "storage": storage,
		"binds": "/dev /proc /sys /tmp /etc/hosts /etc/resolv.conf", "rootless": "no", "daemon": "none"})
	env.AddFacts(engine.LiesOn(env.image))
	if user != nil {
		env.AddFacts(map[string]string{"rootless": "yes", "user": user.Name})
	}
	if env.squash {
		err = adapter.OwnDir(env.mount, user, kit)
	}
	if err == nil {
		err = env.prove(ctx)
	}
	return adapter.Opened(ctx, env, err)
}

// prove checks from inside that the storage and the namespaces are those asked
// for.
func (e *environment) prove(ctx context.Context) error {
	p, err := adapter.Prove(ctx, e.Kit, e, e.Spec.ID)
	if err != nil {
		return err
	}
	if err := adapter.JudgeOmitted(e.Spec, p.Report); err != nil {
		return err
	}
	fs := p.Report["root.fs"]
	squash := strings.Contains(fs, "fuse") || fs == "squashfs"
	// A directory may lie on a file system that is mounted through FUSE.
	if lies, err := engine.Lies(e.image); squash && !e.squash && err == nil && lies.Type == fs {
		squash = false
	}
	if squash != e.squash {
		return adapter.Wrong("the root file system inside is %s, which is not what storage=%s gives", fs, e.Fact("storage"))
	}
	if host, err := os.Readlink("/proc/self/ns/user"); err == nil && host == "user:["+p.Report["ns.user"]+"]" {
		return adapter.Wrong("the container has no user namespace of its own")
	}
	e.AddFacts(map[string]string{"root-fs": fs})
	return nil
}

func (e *environment) Close(ctx context.Context) error {
	err := errors.Join(e.Base.Close(ctx), e.endPulls())
	if e.squash {
		err = errors.Join(err, adapter.RemoveIfThere(e.mount))
	}
	return err
}

// fuseFix makes /dev/fuse one that everybody may open, with the kernel's module
// where that is what is missing.
func fuseFix() string {
	if _, err := os.Stat("/dev/fuse"); err == nil {
		return "chmod 666 /dev/fuse"
	}
	if load := engine.Modprobe("fuse"); load != "" {
		return load + " && chmod 666 /dev/fuse"
	}
	return ""
}
