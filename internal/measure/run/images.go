package run

import (
	"context"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/likeness"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/record"
)

// describeImages records the images in use. Of a resumed run they are described anew:
// what its record says of them is of its earlier part.
func (r *runner) describeImages(ctx context.Context) {
	seen := map[string]bool{}
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
		r.rec.PutImage(record.Image{Name: im.Name, Digest: im.Digest, Tree: im.Tree, WithoutProbe: im.WithoutProbe, Bytes: im.Bytes, Facts: im.Facts})
	}
}

// otherImages is what the images of a resumed run hold otherwise than those of its
// earlier part. What can't be told is said.
func (r *runner) otherImages() []record.Difference {
	differs, unknown := likeness.Images(r.was.Images, r.rec.Images, r.was.Tool.Probe == probe.Digest())
	if len(unknown) > 0 && len(r.writer.Complete()) > 0 {
		r.progress.Remark(likeness.Unknown(unknown))
	}
	return differs
}
