package run

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"plimsoll/internal/common/safepath"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/image"
	"plimsoll/internal/measure/imagestore"
	"plimsoll/internal/measure/study"
)

// puller holds what the pulls of a run need: the registry, and the images in
// it by name.
type puller struct {
	registry *imagestore.Registry
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
	if p.registry, err = imagestore.StartRegistry(p.dir); err != nil {
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
	var e *imagestore.Error
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
	return errors.Join(p.registry.Close(), safepath.RemoveAll(p.dir))
}
