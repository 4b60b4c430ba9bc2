//go:build linux

package imagestore

import (
	"context"
	"fmt"
	"slices"

	"plimsoll/internal/measure/image"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// Publish puts an image of a store and its sibling into the registry, under the run's
// tag. Each layer has one file more than in the image that is started: the run's mark, which
// makes sure that no engine holds the layer already.
func (r *Registry) Publish(ctx context.Context, images image.Provider, imageName, runID string) (*image.Published, error) {
	r.mu.Lock()
	p := r.images[imageName]
	r.mu.Unlock()
	if p != nil {
		return p, nil
	}
	layout, err := images.Path(ctx, imageName, image.OCILayout)
	if err != nil {
		return nil, err
	}
	from, err := OnlyImage(layout)
	if err == nil {
		p, err = r.publish(ctx, from, imageName, runID)
	}
	if err != nil {
		return nil, &Error{Text: "putting the image " + imageName + " into the registry of the run", Err: err}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.images[imageName] = p
	return p, nil
}

// publish packs the two; their layers are files of the registry's directory.
func (r *Registry) publish(ctx context.Context, from v1.Image, imageName, runID string) (*image.Published, error) {
	cf, err := from.ConfigFile()
	if err != nil {
		return nil, err
	}
	layers, err := from.Layers()
	if err != nil {
		return nil, err
	}
	layers = slices.Clone(layers)
	for i := range layers {
		if layers[i], err = recompress(r.dir, mark(i, imageName, runID), layers[i]); err != nil {
			return nil, err
		}
	}
	other, err := recompress(r.dir, mark(len(layers), imageName+"-sibling", runID), nil)
	if err != nil {
		return nil, err
	}
	base := max(1, len(layers)-1)
	img, err := assemble(cf, layers)
	if err != nil {
		return nil, err
	}
	sibling, err := assemble(cf, append(layers[:base:base], other))
	if err != nil {
		return nil, err
	}
	m, err := img.Manifest()
	if err != nil {
		return nil, err
	}
	plain := image.FileName(imageName)
	p := &image.Published{Ref: r.Ref(plain, runID), Sibling: r.Ref(plain+"-sibling", runID), Base: base, Compressed: m.Config.Size}
	for _, l := range m.Layers {
		p.Compressed += l.Size
		p.Layers = append(p.Layers, l.Digest.String())
	}
	if p.Digest, err = r.push(ctx, p.Ref, img); err != nil {
		return nil, err
	}
	p.SiblingDigest, err = r.push(ctx, p.Sibling, sibling)
	return p, err
}

// assemble makes an image of layers, with the configuration of another.
func assemble(cf *v1.ConfigFile, layers []v1.Layer) (v1.Image, error) {
	img := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	var adds []mutate.Addendum
	for _, l := range layers {
		adds = append(adds, mutate.Addendum{Layer: l, MediaType: types.OCILayer,
			History: v1.History{Created: v1.Time{Time: epoch}, CreatedBy: "plimsoll"}})
	}
	img, err := mutate.Append(img, adds...)
	if err != nil {
		return nil, fmt.Errorf("adding the layers: %w", err)
	}
	made, err := img.ConfigFile()
	if err != nil {
		return nil, err
	}
	made = made.DeepCopy()
	made.OS, made.Architecture, made.Variant, made.Created, made.Config = cf.OS, cf.Architecture, cf.Variant, v1.Time{Time: epoch}, cf.Config
	return mutate.ConfigFile(img, made)
}

// push writes an image, and returns the digest of its manifest.
func (r *Registry) push(ctx context.Context, ref string, img v1.Image) (string, error) {
	tag, err := name.NewTag(ref, name.Insecure)
	if err != nil {
		return "", err
	}
	if err := remote.Write(tag, img, remote.WithContext(ctx), remote.WithTransport(ourTransport{r.token}), remote.WithJobs(1)); err != nil {
		return "", fmt.Errorf("writing %s: %w", ref, err)
	}
	digest, err := img.Digest()
	return digest.String(), err
}

// mark is the file that a layer of a published image has besides its own.
func mark(layer int, imageName, runID string) tree {
	return tree{{path: fmt.Sprintf("/.plimsoll-run-%d", layer), kind: kindFile, mode: 0o644, data: []byte(imageName + " " + runID + "\n")}}
}
