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

// Set is an image and its sibling, ready for a registry. Each layer has one file more
// than in the image that is started: the run's mark, which makes sure that no engine
// holds the layer already.
type Set struct {
	Image, Sibling v1.Image
	base           int
}

// NewSet packs the two. Their layers are files in dir, which must stay until they have
// been written to a registry, and are the caller's to remove.
func NewSet(dir string, from v1.Image, imageName, runID string) (*Set, error) {
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
		if layers[i], err = recompress(dir, mark(i, imageName, runID), layers[i]); err != nil {
			return nil, err
		}
	}
	other, err := recompress(dir, mark(len(layers), imageName+"-sibling", runID), nil)
	if err != nil {
		return nil, err
	}
	s := &Set{base: max(1, len(layers)-1)}
	if s.Image, err = assemble(cf, layers); err != nil {
		return nil, err
	}
	s.Sibling, err = assemble(cf, append(layers[:s.base:s.base], other))
	return s, err
}

// As says what a registry has where the two stand under these references.
func (s *Set) As(ref, sibling string) (*image.Published, error) {
	digest, err := s.Image.Digest()
	if err != nil {
		return nil, err
	}
	other, err := s.Sibling.Digest()
	if err != nil {
		return nil, err
	}
	m, err := s.Image.Manifest()
	if err != nil {
		return nil, err
	}
	p := &image.Published{Ref: ref, Digest: digest.String(), Sibling: sibling, SiblingDigest: other.String(), Base: s.base, Compressed: m.Config.Size}
	for _, l := range m.Layers {
		p.Compressed += l.Size
		p.Layers = append(p.Layers, l.Digest.String())
	}
	return p, nil
}

// PublishImage puts an image and its sibling into the registry, under the run's tag.
func (r *Registry) PublishImage(ctx context.Context, from v1.Image, imageName, runID string) (*image.Published, error) {
	p, err := r.publish(ctx, from, imageName, runID)
	if err != nil {
		return nil, &Error{Text: "putting the image " + imageName + " into the registry of the run", Err: err}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.images[imageName] = p
	return p, nil
}

func (r *Registry) publish(ctx context.Context, from v1.Image, imageName, runID string) (*image.Published, error) {
	s, err := NewSet(r.dir, from, imageName, runID)
	if err != nil {
		return nil, err
	}
	plain := image.FileName(imageName)
	p, err := s.As(r.Ref(plain, runID), r.Ref(plain+"-sibling", runID))
	if err != nil {
		return nil, err
	}
	if err := r.push(ctx, p.Ref, s.Image); err != nil {
		return nil, err
	}
	return p, r.push(ctx, p.Sibling, s.Sibling)
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

// push writes an image.
func (r *Registry) push(ctx context.Context, ref string, img v1.Image) error {
	tag, err := name.NewTag(ref, name.Insecure)
	if err != nil {
		return err
	}
	if err := remote.Write(tag, img, remote.WithContext(ctx), remote.WithTransport(ourTransport{r.token}), remote.WithJobs(1)); err != nil {
		return fmt.Errorf("writing %s: %w", ref, err)
	}
	return nil
}

// mark is the file that a layer of a published image has besides its own.
func mark(layer int, imageName, runID string) tree {
	return tree{{path: fmt.Sprintf("/.plimsoll-run-%d", layer), kind: kindFile, mode: 0o644, data: []byte(imageName + " " + runID + "\n")}}
}
