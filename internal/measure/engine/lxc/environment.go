package lxc

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"

	"plimsoll/internal/common/safepath"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/cgroup"
	"plimsoll/internal/measure/engine/clirun"
	"plimsoll/internal/measure/engine/cni"
	"plimsoll/internal/measure/host/proc"
	"plimsoll/internal/measure/image"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/record"
)

// environment is LXC in one configuration.
type environment struct {
	*clirun.Base
	programs map[string]string
	dir      string        // configuration, overlays, consoles
	image    string        // the shared directory
	view     *adapter.View // of it, where containers are in it themselves
	overlay  bool
	execute  bool

	addresses *cni.Addresses // of the bridge; nil where containers have none
}

func (e *Engine) Open(ctx context.Context, kit *engine.Kit, spec engine.Spec) (engine.Environment, error) {
	d := e.Detect(ctx, kit)
	if err := engine.Refuse(e.Info(), d, spec); err != nil {
		return nil, err
	}
	paths, err := find(kit)
	if err != nil {
		return nil, &engine.Error{Class: record.Unavailable, Text: err.Error(), Fix: install}
	}
	env := &environment{programs: paths, dir: filepath.Join(kit.Dir, "lxc-"+adapter.Name(kit.RunID, spec.ID)),
		overlay: spec.Level(engine.Storage) == "overlay", execute: spec.Level(engine.Client) == byExecute}
	if env.image, err = kit.SpecImage(ctx, spec, image.Directory, nil); err != nil {
		return nil, err
	}
	if env.Base, err = clirun.NewBase(ctx, kit, spec, false); err != nil {
		return nil, err
	}
	return adapter.Opened(ctx, env, env.open(ctx, d))
}

func (e *environment) open(ctx context.Context, d engine.Detection) error {
	_, err := os.Stat(common)
	include := err == nil
	if err := os.MkdirAll(filepath.Join(e.dir, "run"), 0o755); err != nil {
		return err
	}
	groups, err := proc.Here.Hierarchies()
	if err != nil {
		return err
	}
	limits, err := limitKeys(e.Spec.Limits, d.Version, groups)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(e.dir, "config"), []byte(config(e.Spec, include, limits)), 0o644); err != nil {
		return err
	}
	if err := e.Kit.Ledger.Made(e.lockThing()); err != nil {
		return err
	}
	if !e.overlay {
		// LXC makes a file in the root directory and removes it again, to keep its file
		// system from being remounted, unless it can't write there.
		if e.view, err = adapter.NewView(e.Kit, e.image, filepath.Join(e.dir, "root")); err != nil {
			return err
		}
	}
	if network(e.Spec) == "bridge" {
		if e.addresses, err = findAddresses(e.Kit.RunID + e.Spec.ID); err != nil {
			return err
		}
	}
	facts := map[string]string{
		engine.HeldFact: engine.HeldByEngine, "version": d.Version, "runtime": "lxc", "runtime-version": d.Version, "runtime-path": d.Where,
		"storage": "directory", "network": network(e.Spec), "rootless": "no", "privileged": "yes",
		"client": bySteps, "init": initCommand, "log": "none", "daemon": "none", "monitor": "lxc-start",
	}
	maps.Copy(facts, cgroup.ByEngineFacts(e.Spec.Limits))
	if e.overlay {
		facts["storage"] = "overlay"
	}
	if include {
		facts["config"] = common
		if _, err := os.Stat(hooks); err == nil {
			facts["hooks"] = hooks
		}
	}
	if e.execute {
		facts["client"], facts["init"], facts["monitor"] = byExecute, "lxc-init", "lxc-execute"
		facts[engine.HeldFact] = engine.HeldByUs
	}
	e.AddFacts(facts)
	return e.prove(ctx)
}

// prove checks from inside that the container is what was asked for.
func (e *environment) prove(ctx context.Context) error {
	p, err := adapter.Prove(ctx, e.Kit, e, e.Spec.ID)
	if err != nil {
		return err
	}
	in := p.Report
	if err := (&adapter.Seen{Inside: in, Host: adapter.HostNow()}).JudgeNetwork(network(e.Spec)); err != nil {
		return err
	}
	interfaces := map[string]string{"none": "1", "bridge": "2"} // the loopback is one
	if want := interfaces[network(e.Spec)]; want != "" && in["net.interfaces"] != want {
		return adapter.Wrong("asked for the network %s, and the payload saw the interfaces %s", network(e.Spec), in["net.names"])
	}
	if (in["root.fs"] == "overlay") != e.overlay && !e.imageOnOverlay() {
		return adapter.Wrong("asked for the storage %s, the root inside is %s", e.Facts()["storage"], in["root.fs"])
	}
	if err := adapter.JudgeOmitted(e.Spec, in); err != nil {
		return err
	}
	seccomp := map[string]string{"0": "off", "2": "default"}[in["seccomp"]]
	if e.Spec.Level(engine.Seccomp) == "off" && seccomp != "off" {
		return adapter.Wrong("asked for no filter of system calls, and the payload saw one")
	}
	facts := map[string]string{"root-fs": in["root.fs"], "seccomp": seccomp, "seccomp-inside": in["seccomp"],
		"capabilities": in["cap.eff"], "user": "root as " + in["uid_map"]}
	if _, v1 := in["cgroup.memory"]; v1 {
		facts["cgroup"] = "v1"
	} else if _, v2 := in["cgroup.v2"]; v2 {
		facts["cgroup"] = "v2"
	}
	e.AddFacts(facts)
	return nil
}

// imageOnOverlay: the image itself may lie on an overlay, where we run in a
// container ourselves.
func (e *environment) imageOnOverlay() bool {
	mounts, _ := proc.Here.Mounts(proc.Self)
	m := proc.On(mounts, e.image)
	return m != nil && m.FSType == "overlay"
}

// settings are a container's own, for its network and its mounts; release must
// be called where there is no error.
func (e *environment) settings(task engine.Task) (set []string, w where, err error) {
	if set, err = e.mounts(task); err != nil {
		return nil, w, err
	}
	w, err = e.locate(task)
	return append(set, w.set...), w, err
}

// release gives a container's address back.
func (e *environment) release(task engine.Task, w where) {
	if task.Beside == nil {
		e.addresses.GiveBack(w.address)
	}
}

func (e *environment) Run(ctx context.Context, task engine.Task) (engine.Result, error) {
	set, w, err := e.settings(task)
	if err != nil {
		return adapter.Refused(err), nil
	}
	defer e.release(task, w)
	if err := e.make(task.Name); err != nil {
		return adapter.Refused(err), nil
	}
	res, err := e.Base.Run(ctx, e.plan(task, set))
	e.finish(task.Name, &res)
	return res, err
}

// finish completes a life's result, and waits until nothing of it is left.
func (e *environment) finish(name string, res *engine.Result) {
	if !e.execute && res.Events != nil {
		if at := res.Events[record.Request]; at != 0 {
			res.Events[record.Start] = at // lxc-start is both
		}
		e.readInit(name, res)
	}
	if err := e.unmake(name); err != nil && res.Failure == nil {
		res.Failure = &record.Failure{Class: record.UncleanEnd, Text: err.Error()}
	}
}

// make prepares what a container finds: like the image and a bundle, its
// overlay's empty directory is an input.
func (e *environment) make(name string) error {
	if err := vacant(name); err != nil {
		return err
	}
	if err := e.Kit.Ledger.Made(e.thing(name)); err != nil {
		return err
	}
	return os.MkdirAll(filepath.Join(e.place(name), "delta"), 0o755)
}

// unmake waits until nothing of a container is left and removes its files.
func (e *environment) unmake(name string) error {
	err := errors.Join(sweep(context.Background(), name), safepath.RemoveAll(e.place(name)))
	if err == nil {
		err = e.Kit.Ledger.Gone(e.thing(name))
	}
	return err
}

// readInit takes the init's own stamp from the console.
func (e *environment) readInit(name string, res *engine.Result) {
	text, err := os.ReadFile(e.console(name))
	if err != nil || res.Events == nil {
		return
	}
	if said, err := probe.ParsePayload(text, probe.InitWord); err == nil {
		res.Events[record.Init] = said.First
	}
}

func (e *environment) Calibrate(ctx context.Context, task engine.Task, rounds int) ([]probe.Exchange, error) {
	set, w, err := e.settings(task)
	if err != nil {
		return nil, err
	}
	defer e.release(task, w)
	if err := e.make(task.Name); err != nil {
		return nil, err
	}
	xs, err := e.ExchangePlan(ctx, e.plan(task, set), rounds)
	return xs, errors.Join(err, e.unmake(task.Name))
}

func (e *environment) Close(ctx context.Context) error {
	// A view that is still mounted must keep its directory.
	err := errors.Join(e.Base.Close(ctx), e.view.Remove())
	if err == nil {
		err = safepath.RemoveAll(e.dir)
		unlock(e.dir)
	}
	if err == nil {
		err = e.Kit.Ledger.Gone(e.lockThing())
	}
	return err
}
