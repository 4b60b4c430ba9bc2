package run

import (
	"context"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/record"
)

// describeImages records the images in use.
func (r *runner) describeImages(ctx context.Context) {
	seen := map[string]bool{}
	for _, im := range r.rec.Images {
		seen[im.Name] = true
	}
	names := r.pulls.names()
	for _, e := range r.rec.Environments {
		for _, o := range r.session.sorted() {
			if o.rec.ID != e.ID || o.virtual || e.Baseline == "host" {
				continue
			}
			if o.image != "" {
				names = append(names, o.image)
			} else {
				names = append(names, engine.ImageName(engine.Spec{Levels: e.Levels}))
			}
		}
	}
	for _, name := range names {
		if seen[name] {
			continue
		}
		im, err := r.kit.Images.Get(ctx, name)
		if err != nil {
			r.progress.Remark("describing image " + name + ": " + err.Error())
			continue
		}
		seen[name] = true
		r.rec.Images = append(r.rec.Images, record.Image{Name: im.Name, Digest: im.Digest, Tree: im.Tree, Bytes: im.Bytes, Facts: im.Facts})
	}
}
