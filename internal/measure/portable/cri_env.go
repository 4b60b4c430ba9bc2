package portable

import (
	"context"
	"fmt"
	"slices"
	"time"

	runtimev1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/stamp"
	"plimsoll/internal/record"
)

// byCRI is an environment whose pods are carried through their lives by the CRI's calls.
type byCRI struct {
	s        *Server
	settings settings
	ledger   *Ledger
	images   map[string]*runtimev1.ImageSpec // by the tags that settings name
}

// openCRI makes an environment of the CRI's ready.
func (r *run) openCRI(ctx context.Context, env *environment, f *Found, spec engine.Spec) error {
	if f.Reason != "" {
		return unavailable(nil, f.Fix, "%s", f.Reason)
	}
	s, err := f.address.connectCRI(r.Run.ID)
	if err != nil {
		return err
	}
	env.d = s
	v, err := s.greet(ctx)
	if err != nil {
		return err
	}
	if n := f.Facts["other-pods"]; n != "" {
		r.Say("pods of others run at " + f.Where + " (" + n + "): a kubelet there ends pods that it does not know, those of this run too, and trials fail or take longer by that; stop it for the time of the run, or measure a node without one")
	}
	c := &byCRI{s: s, settings: settingsFor(spec, r.Run.ID, ""), ledger: r.ledger, images: map[string]*runtimev1.ImageSpec{}}
	env.runner, env.settings = c, &c.settings
	if err := r.elsewhere(s.At.Host, serverOf(v)); err != nil {
		return err
	}
	at := f.address
	at.Server = serverOf(v)
	return r.ledger.Reached(s.At.Host, reach{Address: at})
}

// elsewhere says that another server answers at an address than the one on which the ledger
// still names something: its place is not overwritten, so that this one's word, that it has
// nothing, strikes nothing out.
func (r *run) elsewhere(host, answers string) error {
	err := r.ledger.by[host].Address.elsewhere(answers)
	if err == nil || !slices.ContainsFunc(r.ledger.Left(), func(t engine.Thing) bool { return t.At == host }) {
		return nil
	}
	return fmt.Errorf("what the run has left there is still in its ledger: %w; if this is that one, changed by now, plimsoll clean --portable says what there is to do", err)
}

// providePulled gets an image into the server's store in the one way that there is: the
// server pulls it. It is another one than those of pulls, which are dropped again.
func (r *run) providePulled(ctx context.Context, env *environment, c *byCRI, called string) (string, error) {
	tag := r.Look.Images.tag(called)
	if c.images[tag] != nil {
		return tag, nil
	}
	pub, err := r.publishedAs(ctx, called, called+"-started")
	if err != nil {
		return "", err
	}
	r.removals = append(r.removals, func(ctx context.Context) error { return c.drop(ctx, pub.Ref) })
	before := r.source.traffic()
	p, err := r.pullOne(ctx, env, pub.Ref, pub.Digest)
	if err == nil && p.Failure != nil {
		if r.source.registry != nil && r.source.traffic().Since(before).Requests == 0 {
			return "", nothingAsked(r.Look.Found(CRI), r.source.registry, p.Failure.Text)
		}
		err = &engine.Error{Class: p.Failure.Class, Text: "getting the image " + called + " into the store: " + p.Failure.Text}
	}
	if err != nil {
		return "", err
	}
	have, err := c.s.lookUp(ctx, pub.Ref)
	if err != nil {
		return "", err
	}
	// The id and the user's name for it, as the kubelet gives them; CRI-O refuses a
	// container without the second.
	c.images[tag] = &runtimev1.ImageSpec{Image: have.GetId(), UserSpecifiedImage: pub.Ref}
	return tag, nil
}

// hold enters a pod into the ledger and brings it up.
func (e *byCRI) hold(ctx context.Context, task engine.Task) (*pod, error) {
	p := &pod{s: e.s, task: task, res: engine.Result{Events: make(map[record.Event]int64, 16)}}
	spec := e.images[e.settings.image]
	if spec == nil {
		return p, &engine.Error{Class: record.HarnessError, Text: "the image " + e.settings.image + " was not provided"}
	}
	return p, p.up(ctx, e.settings, spec)
}

// run can't be: what a container prints reaches nobody.
func (e *byCRI) run(context.Context, engine.Task) (engine.Result, error) {
	return engine.Result{Failure: failedBy(record.Unsupported, "by the CRI alone no output of a container reaches us")}, nil
}

// exec holds a pod, executes a program in its container, and removes it. The result is the
// execution's alone.
func (e *byCRI) exec(ctx context.Context, task engine.Task, argv []string) (engine.Result, map[string]float64, error) {
	thing := e.s.thing(engine.KindContainer, task.Name)
	if err := e.ledger.Made(thing); err != nil {
		return engine.Result{}, nil, err
	}
	within, cancel := context.WithTimeout(ctx, task.Limit)
	defer cancel()
	p, err := e.hold(within, task)
	var x engine.Result
	var told map[string]float64
	if err == nil {
		if x, err = p.execute(within, argv); err == nil {
			told = p.told(within)
		}
	}
	if err != nil {
		x.Failure = p.failed(within, err)
	}
	_, gone, err := e.remove(ctx, thing, &x, p.late)
	if !gone {
		told = nil
	}
	return x, told, err
}

// stop holds a pod, has the trial's word said by an execution in its container, and stops
// it. The result has no removal: the whole would have that execution in it.
func (e *byCRI) stop(ctx context.Context, task engine.Task, word string) (engine.Result, error) {
	thing := e.s.thing(engine.KindContainer, task.Name)
	if err := e.ledger.Made(thing); err != nil {
		return engine.Result{}, err
	}
	within, cancel := context.WithTimeout(ctx, task.Limit)
	defer cancel()
	p, err := e.hold(within, task)
	if err == nil {
		var x engine.Result
		if x, err = p.prove(within, word); err == nil {
			p.res.Stdout, p.res.Stderr = x.Stdout, x.Stderr
			err = p.stop(within)
		}
	}
	if err != nil {
		p.res.Failure = p.failed(within, err)
	}
	at, gone, err := e.remove(ctx, thing, &p.res, p.late)
	if gone {
		p.res.Steps = append(p.res.Steps, record.Step{Name: "pod-removed", At: at})
	}
	return p.res, err
}

// remove removes a trial's pod and strikes it out. What stays is the trial's failure, and
// the ledger keeps it, as it does one that may come late: that is looked for at the end
// once more, which after an interrupt is at once, and not before it may have come. The error
// is of the ledger.
func (e *byCRI) remove(ctx context.Context, thing engine.Thing, res *engine.Result, late bool) (at int64, gone bool, err error) {
	if late {
		e.ledger.givenUp(thing.Name, time.Now().Add(lateLimit))
	}
	if err := e.s.removePod(ctx, thing.Name); err != nil {
		if res.Failure == nil {
			res.Failure = &record.Failure{Class: record.UncleanEnd, Text: err.Error()}
		} else {
			res.Failure.Text += "; " + err.Error()
		}
		return 0, false, nil
	}
	at = stamp.Now()
	if late {
		return at, true, nil
	}
	return at, true, e.ledger.Gone(thing)
}
