package apptainer

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/clirun"
	"plimsoll/internal/measure/image"
	"plimsoll/internal/record"
)

// environment is Apptainer in one configuration.
type environment struct {
	*clirun.Base
	program installed
	storage string
	image   string
	user    *engine.User // nil is root
	userns  bool
	netNone bool
	omits   engine.Omitted
	adds    engine.Omitted
	// instances: a held container is an instance.
	instances bool
	// noOwn says why a container of this user can't be written in; "" where it can.
	noOwn string
	home  string // the program's own settings and cache, so that it writes into nobody's home
}

func (e *Engine) Open(ctx context.Context, kit *engine.Kit, spec engine.Spec) (engine.Environment, error) {
	d, in := e.detect(ctx, kit)
	if err := engine.Refuse(e.Info(), d, spec); err != nil {
		return nil, err
	}
	env := &environment{program: in, omits: spec.Omitted(), adds: spec.Extra(), netNone: spec.Level(engine.Network) == "none",
		home: filepath.Join(kit.Dir, homePrefix+strings.ReplaceAll(spec.ID, "/", "-"))}
	env.identity(kit, spec.Level(engine.Rootless))
	if env.userns && env.netNone {
		return nil, &engine.Error{Class: record.Unsupported, Text: "apptainer lets only root choose a network, and not in a user namespace"}
	}
	storage := spec.Level(engine.Storage)
	if storage == engine.DefaultLevel {
		storage = "sif"
	}
	path, err := kit.SpecImage(ctx, spec, formats[storage], env.user)
	if err != nil {
		return nil, err
	}
	env.storage, env.image = storage, source(storage, path)
	held, why := engine.HeldByEngine, noInstance(ctx, kit, spec, storage)
	if env.instances = why == ""; !env.instances {
		held = engine.HeldByUs
	}
	if env.Base, err = clirun.NewBase(ctx, kit, spec, true); err != nil {
		return nil, err
	}
	facts := map[string]string{engine.HeldFact: held, "held-reason": why, "version": d.Version, "program": in.name, "client": "cli", "storage": storage,
		"network": "host", "rootless": "no", "daemon": "none", "setuid": d.Facts["setuid"], "flags": strings.Join(env.flags(), " ")}
	if env.netNone {
		facts["network"] = "none"
	}
	if env.userns {
		facts["rootless"] = "yes"
	}
	if env.user != nil {
		facts["user"] = env.user.Name
	}
	env.AddFacts(facts)
	env.AddFacts(engine.LiesOn(path))
	if err = adapter.OwnDir(env.home, env.user, kit); err == nil {
		err = env.prove(ctx)
	}
	return adapter.Opened(ctx, env, err)
}

// noInstance says why a held container can't be an instance: what Apptainer
// starts in one is a script that it puts into the images that it builds, which
// needs a shell.
func noInstance(ctx context.Context, kit *engine.Kit, spec engine.Spec, storage string) string {
	if storage == "sandbox" {
		return "the directory has no start script of Apptainer's, which an instance needs"
	}
	dir, err := kit.Images.Path(ctx, engine.ImageName(spec), image.Directory)
	if err != nil {
		return err.Error()
	}
	if _, err := os.Lstat(filepath.Join(dir, "bin", "sh")); err != nil {
		return "the image has no /bin/sh, which the start script of an instance needs"
	}
	return ""
}

// identity decides who runs it and how that one gets the right to mount.
func (e *environment) identity(kit *engine.Kit, rootless string) {
	switch {
	case rootless == "yes":
		e.user, e.userns = kit.User, true
	case !kit.Root:
		e.user, e.userns = kit.User, rootless != "no" && !e.program.setuid
	}
}

func (e *environment) flags() []string {
	var flags []string
	if e.userns {
		flags = append(flags, "--userns")
	}
	if e.netNone {
		flags = append(flags, "--net", "--network=none")
	}
	for _, m := range mechanisms {
		switch {
		case m.Factor == engine.Without && e.omits.Has(m.To):
			flags = append(flags, omitArgs[m.To])
		case m.Factor == engine.With && e.adds.Has(m.To):
			flags = append(flags, addArgs[m.To])
		}
	}
	return flags
}

// prove checks from inside, and from what Apptainer said, that namespaces,
// network and storage are those asked for.
func (e *environment) prove(ctx context.Context) error {
	p, res, err := adapter.ProveResult(ctx, e.Kit, e, e.Spec.ID)
	if err != nil {
		return err
	}
	for kind, own := range map[string]bool{"user": e.userns, "net": e.netNone} {
		host, err := os.Readlink("/proc/self/ns/" + kind)
		if err == nil && (host != kind+":["+p.Report["ns."+kind]+"]") != own {
			return adapter.Wrong("the %s namespace inside is %s, the host's is %s; own was to be %v", kind, p.Report["ns."+kind], host, own)
		}
	}
	if err := adapter.JudgeOmitted(e.Spec, p.Report); err != nil {
		return err
	}
	// Where it can't mount an image file it unpacks it for each container,
	// which is another storage.
	if bytes.Contains(res.Stderr, []byte("to temporary sandbox")) {
		return adapter.Wrong("the image file can't be mounted here and would be unpacked for each container: %s", adapter.Words(res.Stderr))
	}
	e.AddFacts(map[string]string{"root-fs": p.Report["root.fs"], "capabilities": p.Report["cap.eff"]})
	why, known := adapter.ProveOwn(ctx, e.Kit, e, e.Spec.ID)
	switch {
	case why != "":
		e.noOwn = "with --writable-tmpfs nothing can be written in the container's own " + image.WorkDir + " (" + why + ")"
		if !strings.HasPrefix(p.Report["uid_map"], "0 ") {
			e.noOwn += ": it belongs to root, whom the user namespace does not map, so that no layer can take it over; --fakeroot maps root"
		}
	case known:
		e.AddFacts(map[string]string{record.OwnFiles: record.FilesInMemory}) // by --writable-tmpfs
	}
	return nil
}

func (e *environment) Close(ctx context.Context) error {
	return errors.Join(e.Base.Close(ctx), adapter.RemoveDir(e.home, e.user, e.Kit))
}
