package portable

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/image"
	"plimsoll/internal/measure/imagestore"
	"plimsoll/internal/measure/workload"
	"plimsoll/internal/record"
)

// pull is a trial of the workload pull: an image comes into the engine's store from where
// source has put it, under a tag of the run's own. The round trip was measured before.
// The error is the context's or the ledger's.
func (r *run) pull(ctx context.Context, t *record.Trial, env *environment, what workload.Pull) error {
	pub, err := r.published(ctx, what.Image)
	if err != nil {
		t.Failure = engine.FailureOf(err)
		return ctx.Err()
	}
	defer func() {
		if t.Failure != nil && t.Failure.Class == record.TimeOut {
			return // it may arrive yet: the next trial, or the end of the run, looks for it again
		}
		if err := dropBoth(context.WithoutCancel(ctx), env, pub); err != nil {
			t.Remarks = append(t.Remarks, "removing the image after the trial: "+err.Error())
		}
	}()
	if err := r.bring(ctx, env, pub, what.Cache); err != nil {
		t.Failure = engine.FailureOf(err)
		return ctx.Err()
	}
	if why := r.unproved(env.rec.Engine); why != "" && what.Cache == workload.CacheCold {
		t.Failure = failedBy(record.WrongComponent, "%s", why)
		return nil
	}
	before := r.source.traffic()
	c, err := r.pullOne(ctx, env, pub.Ref, pub.Digest)
	if err != nil {
		return err
	}
	t.Client, t.Failure = c.Client, c.Failure
	if t.Failure == nil {
		t.Failure = r.fillPull(t, c, pub, r.source.traffic().Since(before), what.Cache)
	}
	if t.Failure == nil {
		t.Values[workload.SizePrinted] = float64(c.size)
	}
	return ctx.Err()
}

// pulledOnce is a pull, and what the store had after it.
type pulledOnce struct {
	course
	stored
}

// pullOne pulls, within the trial's limit, and looks whether the store has what was asked
// for.
func (r *run) pullOne(ctx context.Context, env *environment, ref, digest string) (p pulledOnce, err error) {
	if said := r.source.ownLoopback(r.Look.Found(env.rec.Engine)); said != "" && !slices.Contains(r.source.warned, said) {
		r.source.warned = append(r.source.warned, said)
		r.Say(said)
	}
	auth, err := r.authFor(ctx, env)
	if err != nil {
		p.Failure = engine.FailureOf(err)
		return p, nil
	}
	within, cancel := context.WithTimeout(ctx, r.limit())
	defer cancel()
	p.course, err = env.pull(within, pullTask{ref: ref, auth: auth, plain: r.source.plain()})
	if p.Failure != nil && (!p.nothing || within.Err() != nil) {
		r.broken = append(r.broken, env.rec.Engine)
	}
	if within.Err() != nil { // it may arrive yet
		r.ledger.givenUp(ref, time.Now().Add(lateLimit))
	}
	if err != nil || p.Failure != nil {
		return p, err
	}
	if p.stored, err = env.stored(ctx, ref); err != nil {
		p.Failure = engine.FailureOf(err)
	} else if !p.has(digest) {
		p.Failure = failedBy(record.WrongComponent, "the store's image %s has the manifests %v, and %s was asked for", ref, p.digests, digest)
	}
	return p, nil
}

// authFor are the user's credentials for the next pull by an API, looked up before each one
// and outside of its time: tokens of credential helpers expire within a run. A command
// looks them up itself. Nobody's go to what an engine elsewhere has on its own loopback, nor
// by either client over a way on which others read them.
func (r *run) authFor(ctx context.Context, env *environment) (string, error) {
	f := r.Look.Found(env.rec.Engine)
	seen := f.address.inClear()
	_, byItself := env.runner.(*byCommand)
	if r.source.registry != nil || byItself && seen == nil || r.source.ownLoopback(f) != "" {
		return "", nil
	}
	auth, err := r.source.anew().encoded(ctx, r.source.repo)
	switch {
	case err != nil:
		return "", err
	case auth != "" && seen != nil:
		return "", seen
	case byItself:
		return "", nil
	}
	return auth, nil
}

// bring brings the engine's store into the state that a trial asks for.
func (r *run) bring(ctx context.Context, env *environment, pub *image.Published, cache string) error {
	if err := dropBoth(ctx, env, pub); err != nil {
		return &engine.Error{Class: record.EngineError, Text: "removing the image before the trial", Err: err}
	}
	ref, digest := pub.Ref, pub.Digest
	switch cache {
	case workload.CacheCold:
		return nil
	case workload.CacheShared:
		ref, digest = pub.Sibling, pub.SiblingDigest
	}
	p, err := r.pullOne(ctx, env, ref, digest)
	if err == nil && p.Failure != nil {
		err = &engine.Error{Class: p.Failure.Class, Text: "pulling " + ref + " before the trial: " + p.Failure.Text}
	}
	return err
}

// dropBoth removes what the ledger says that the run has pulled.
func dropBoth(ctx context.Context, env *environment, pub *image.Published) error {
	return errors.Join(env.drop(ctx, pub.Ref), env.drop(ctx, pub.Sibling))
}

// fillPull turns the course of a pull into values, as the full half does. From somebody
// else's registry a cold one is proved by the engine's own word, beside the run's mark in
// each layer, which nobody else can hold.
func (r *run) fillPull(t *record.Trial, c pulledOnce, pub *image.Published, served image.Traffic, cache string) *record.Failure {
	if cache == workload.CacheCold && c.held > 0 {
		return failedBy(record.WrongComponent, "the pull was not cold: the engine says that it had %d of the layers", c.held)
	}
	var counted *image.Traffic
	if r.source.registry != nil {
		counted = &served
	}
	return workload.FillPull(t, c.Pulled, pub, counted, cache)
}

// nothingAsked says that an engine asked a registry of ours for nothing.
func nothingAsked(f *Found, registry *imagestore.Registry, said string) error {
	return unavailable(nil, pullFromFix, "%s at %s asked this program's registry at %s for nothing, as one does that runs on another machine, in a virtual one, or in a network namespace of its own: %s",
		f.Engine, f.Where, registry.Addr(), said)
}

// pullFromFix is what helps then.
const pullFromFix = "name a repository that this machine may write to and the engine reaches: plimsoll run --portable --pull-from registry.example/scratch"

// provePull pulls an image once before the first trial, cold: that the engine reaches the
// registry is shown by that, and by nothing in its address.
func (r *run) provePull(ctx context.Context, env *environment, called string) error {
	pub, err := r.published(ctx, called)
	if err != nil {
		return err
	}
	r.removals = append(r.removals, func(ctx context.Context) error { return dropBoth(ctx, env, pub) })
	before := r.source.traffic()
	p, err := r.pullOne(ctx, env, pub.Ref, pub.Digest)
	served := r.source.traffic().Since(before)
	if err == nil && p.Failure == nil {
		p.Failure = r.fillPull(&record.Trial{Values: map[string]float64{}}, p, pub, served, workload.CacheCold)
	}
	switch {
	case err != nil:
		return err
	case p.Failure != nil && r.source.registry != nil && served.Requests == 0:
		err = nothingAsked(r.Look.Found(env.rec.Engine), r.source.registry, p.Failure.Text)
	case p.Failure != nil:
		err = &engine.Error{Class: p.Failure.Class, Text: fmt.Sprintf("the first pull of the image %s: %s", called, p.Failure.Text)}
	default:
		env.rec.Facts["pulls-from"] = r.source.where()
	}
	return errors.Join(err, dropBoth(ctx, env, pub))
}
