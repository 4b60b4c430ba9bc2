package run

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/stamp"
	"plimsoll/internal/measure/image"
	"plimsoll/internal/measure/study"
	"plimsoll/internal/measure/workload"
	"plimsoll/internal/record"
)

// puller holds what the pulls of a run need: the registry, and the images in
// it by name.
type puller struct {
	registry *image.Registry
	dir      string
	images   map[string]*image.Published
}

// preparePulls starts the registry where the plan has a pull and puts the
// images into it. A pull that can't be made leaves the plan, with the reason;
// once trials are recorded the plan is fixed, and the trial will fail.
func (r *runner) preparePulls(ctx context.Context) error {
	wanted, err := r.jobs()
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(wanted, func(i job) bool { return i.Pull != nil }) {
		return nil
	}
	p := &puller{dir: filepath.Join(r.kit.Dir, "registry"), images: map[string]*image.Published{}}
	if err := os.MkdirAll(p.dir, 0o700); err != nil {
		return err
	}
	if p.registry, err = image.StartRegistry(p.dir); err != nil {
		return err
	}
	r.pulls = p
	why := map[string]error{}
	for _, i := range wanted {
		if i.Pull == nil || p.images[i.Pull.Image] != nil || why[i.Pull.Image] != nil {
			continue
		}
		r.progress.Step("putting the image " + i.Pull.Image + " into the registry")
		published, err := p.registry.Publish(ctx, r.kit.Images, i.Pull.Image, r.rec.ID)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			why[i.Pull.Image] = err
			continue
		}
		p.images[i.Pull.Image] = published
	}
	if len(r.writer.Complete()) > 0 {
		return nil
	}
	return r.dropPulls(wanted, why)
}

// dropPulls takes the pulls that can't be made out of the plan.
func (r *runner) dropPulls(wanted []job, why map[string]error) error {
	for k, c := range slices.Clone(r.Plan.Cells) {
		i := wanted[k]
		if i.Pull == nil {
			continue
		}
		env, w := r.Plan.Environments[c.Env], r.Plan.Workloads[c.Workload].ID
		var err error
		o := r.session.any(env.ID)
		switch {
		case o == nil:
		case sizerOf(o, i.Pull.Image) != nil:
		case pullerOf(o) == nil:
			err = r.Plan.DropCell(env.ID, w, study.Unavailable, noPuller(env.ID), "")
		case why[i.Pull.Image] != nil:
			reason, fix := imageReason(why[i.Pull.Image])
			err = r.Plan.DropCell(env.ID, w, study.Unavailable, reason, fix)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func pullerOf(o *openEnv) engine.Puller {
	p, _ := o.env.(engine.Puller)
	return p
}

// sizerOf gives an environment that pulls nothing, but has this image as its
// own and can tell what it takes.
func sizerOf(o *openEnv, imageName string) engine.Sizer {
	s, _ := o.env.(engine.Sizer)
	if pullerOf(o) != nil || imageName != engine.ImageName(engine.Spec{Levels: o.rec.Levels}) {
		return nil
	}
	return s
}

func noPuller(env string) string {
	return env + " does not pull images: it is given a directory or an archive"
}

// imageReason parts the error of an image from its advice.
func imageReason(err error) (reason, fix string) {
	var e *image.Error
	if !errors.As(err, &e) {
		return err.Error(), ""
	}
	plain := *e
	plain.Fix = ""
	return plain.Error(), e.Fix
}

// names are the images that the registry serves, sorted.
func (p *puller) names() []string {
	if p == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(p.images))
}

// close ends the registry.
func (p *puller) close() error {
	if p == nil {
		return nil
	}
	return errors.Join(p.registry.Close(), os.RemoveAll(p.dir))
}

// dropLimit bounds the removal of an image from an engine's store.
const dropLimit = 2 * time.Minute

// pull carries out one trial of the workload pull.
func (r *runner) pull(ctx context.Context, p study.Trial, o *openEnv, what workload.Pull) (*record.Trial, engine.Result, error) {
	t := blank(p)
	t.At = time.Now()
	env := pullerOf(o)
	if sizer := sizerOf(o, what.Image); sizer != nil {
		t.Events = map[record.Event]int64{record.Request: stamp.Now()}
		t.Values = map[string]float64{}
		t.Remarks = append(t.Remarks, "the image was handed over when the environment was opened, and not pulled")
		t.Failure = r.fillSizes(ctx, t, sizer, "")
		return t, engine.Result{}, ctx.Err()
	}
	var pub *image.Published
	if r.pulls != nil {
		pub = r.pulls.images[what.Image]
	}
	switch {
	case env == nil:
		r.refuse(t, noPuller(o.rec.ID))
	case pub == nil:
		t.Failure = &record.Failure{Class: record.Unavailable, Text: "the image " + what.Image + " is not in the registry of the run"}
	}
	if t.Failure != nil {
		return t, engine.Result{}, nil
	}
	// Whatever happens, nothing of the pull stays in the engine's store.
	defer func() {
		after, cancel := context.WithTimeout(context.WithoutCancel(ctx), dropLimit)
		defer cancel()
		if err := dropBoth(after, env, pub); err != nil {
			t.Remarks = append(t.Remarks, "removing the image after the trial: "+err.Error())
		}
	}()
	if err := r.bring(ctx, env, pub, what.Cache); err != nil {
		if ctx.Err() != nil {
			return nil, engine.Result{}, ctx.Err()
		}
		t.Failure = failureOf(err)
		return t, engine.Result{}, nil
	}
	if err := r.settle(ctx, o, t); err != nil || !t.OK() {
		return unsettled(t, err)
	}
	r.between()
	before := r.pulls.registry.Traffic()
	var pulled engine.Pulled
	var err error
	r.observe(o, t, func() {
		pulled, err = r.pullGuarded(ctx, env, engine.PullTask{Ref: pub.Ref, Digest: pub.Digest})
	})
	if err != nil && ctx.Err() != nil {
		return nil, engine.Result{}, ctx.Err()
	}
	served := r.pulls.registry.Traffic().Since(before)
	t.Client = pulled.Client
	t.Failure = pulled.Failure
	if err != nil {
		t.Failure = failureOf(err)
	}
	if t.Failure == nil {
		t.Failure = fillPull(t, pulled, pub, served, what.Cache)
	}
	if t.Failure == nil {
		t.Failure = r.fillSizes(ctx, t, env, pub.Ref)
	}
	return t, engine.Result{}, ctx.Err()
}

// bring brings the engine's store into the state that the trial asks for.
func (r *runner) bring(ctx context.Context, env engine.Puller, pub *image.Published, cache string) error {
	if err := dropBoth(ctx, env, pub); err != nil {
		return &engine.Error{Class: record.EngineError, Text: "removing the image before the trial", Err: err}
	}
	task := engine.PullTask{Ref: pub.Ref, Digest: pub.Digest}
	switch cache {
	case workload.CacheCold:
		return nil
	case workload.CacheShared:
		task = engine.PullTask{Ref: pub.Sibling, Digest: pub.SiblingDigest}
	}
	pulled, err := r.pullGuarded(ctx, env, task)
	if err != nil {
		return err
	}
	if f := pulled.Failure; f != nil {
		return &engine.Error{Class: f.Class, Text: "pulling " + task.Ref + " before the trial: " + f.Text}
	}
	return nil
}

func dropBoth(ctx context.Context, env engine.Puller, pub *image.Published) error {
	ctx, cancel := context.WithTimeout(ctx, dropLimit)
	defer cancel()
	return errors.Join(env.Drop(ctx, pub.Ref), env.Drop(ctx, pub.Sibling))
}

// pullGuarded bounds a pull by the trial limit.
func (r *runner) pullGuarded(ctx context.Context, env engine.Puller, task engine.PullTask) (engine.Pulled, error) {
	limit, cancel := context.WithTimeout(ctx, r.limit())
	defer cancel()
	pulled, err := safely(func() (engine.Pulled, error) { return env.Pull(limit, task) })
	if err != nil && ctx.Err() == nil && errors.Is(limit.Err(), context.DeadlineExceeded) {
		err = &engine.Error{Class: record.TimeOut, Text: fmt.Sprintf("the pull took more than %s", r.limit()), Err: err}
	}
	return pulled, err
}

// fillPull turns the course of a pull into values, and proves that it was the
// one that was asked for: a cold pull has fetched every layer.
func fillPull(t *record.Trial, pulled engine.Pulled, pub *image.Published, served image.Traffic, cache string) *record.Failure {
	request, ready := pulled.Events[record.Request], pulled.Events[record.Ready]
	if request == 0 || ready < request {
		return &record.Failure{Class: record.HarnessError, Text: "the adapter did not stamp the pull"}
	}
	if cache == workload.CacheCold {
		for _, d := range pub.Layers {
			if served.Blobs[d] == 0 {
				return &record.Failure{Class: record.WrongComponent,
					Text: fmt.Sprintf("the pull was not cold: the engine did not fetch the layer %s, so that it still held it", d)}
			}
		}
	}
	// The end is a step, not the event ready: no container was started.
	t.Events = map[record.Event]int64{record.Request: request}
	t.Steps = append(slices.Clone(pulled.Steps), record.Step{Name: "pulled", At: ready})
	t.Values = map[string]float64{
		workload.MetricPull:        float64(ready - request),
		workload.MetricTransferred: float64(served.Bytes),
		workload.MetricRequests:    float64(served.Requests),
		workload.SizeCompressed:    float64(pub.Compressed),
	}
	last := request
	for _, s := range pulled.Steps {
		if s.At < last || s.At > ready {
			return &record.Failure{Class: record.HarnessError, Text: fmt.Sprintf("the step %s lies before the one before it or after the end", s.Name)}
		}
		t.Values[workload.PullPart+s.Name] += float64(s.At - last)
		last = s.At
	}
	return nil
}

// fillSizes asks the engine's store what the image takes.
func (r *runner) fillSizes(ctx context.Context, t *record.Trial, env engine.Sizer, ref string) *record.Failure {
	limit, cancel := context.WithTimeout(ctx, r.limit())
	defer cancel()
	s, err := env.Sizes(limit, ref)
	if err != nil {
		return &record.Failure{Class: failureOf(err).Class, Text: "asking for the image's sizes: " + err.Error()}
	}
	sizes := map[string]int64{
		workload.SizeUnpacked: s.Unpacked, workload.SizeDisk: s.Disk, workload.SizeShared: s.Shared,
		workload.SizeUnique: s.Unique, workload.SizeConverted: s.Converted, workload.SizePrinted: s.Printed,
	}
	for _, id := range slices.Sorted(maps.Keys(sizes)) {
		if sizes[id] >= 0 {
			t.Values[id] = float64(sizes[id])
		}
	}
	return nil
}
