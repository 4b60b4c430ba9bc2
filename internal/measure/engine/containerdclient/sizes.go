package containerdclient

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/containerd/containerd/v2/client"
	"github.com/containerd/containerd/v2/core/images"
	"github.com/containerd/errdefs"
	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/identity"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
)

// Layer is what the snapshot of a layer takes.
type Layer struct {
	Allocated int64 // bytes on the disk
	Apparent  int64 // the size of all files of an image that ends with this layer; -1 where they can't be seen
	Seen      bool  // Allocated was read from the disk, and is not containerd's own word
}

// Sizes returns what an image takes in the store of containerd, in the namespace of the context:
// its blobs and the snapshots that its layers were unpacked into. layer measures one of these by
// its key; top is the last one. What other images of the namespace have too is shared. printed is
// what the engine prints as the image's size.
func Sizes(ctx context.Context, c *client.Client, img client.Image, printed int64, layer func(ctx context.Context, key string, top bool) (Layer, error)) (engine.ImageSizes, error) {
	z := engine.ImageSizes{Printed: printed, Unpacked: -1, Converted: -1}
	own, err := partsOf(ctx, c, img)
	if err != nil {
		return z, fmt.Errorf("taking the image apart: %w", err)
	}
	used, err := usedByOthers(ctx, c, img)
	if err != nil {
		return z, fmt.Errorf("looking at the other images: %w", err)
	}
	root, seen := contentRoot(ctx, c), 0
	add := func(shared bool, l Layer) {
		if shared {
			z.Shared += l.Allocated
		} else {
			z.Unique += l.Allocated
		}
		if l.Seen {
			seen++
		}
	}
	for d, size := range own.blobs {
		add(used[d.String()], blob(root, d, size))
	}
	for i, key := range own.layers {
		l, err := layer(ctx, key, i == len(own.layers)-1)
		if err != nil {
			return z, fmt.Errorf("measuring the unpacked image: %w", err)
		}
		add(used[key], l)
		if l.Apparent >= 0 {
			z.Unpacked = l.Apparent
		}
	}
	z.Disk, z.How = z.Shared+z.Unique, how(seen, len(own.blobs)+len(own.layers))
	return z, nil
}

// parts are what an image is made of in the store: its blobs, and the
// snapshots that its layers were unpacked into.
type parts struct {
	blobs  map[digest.Digest]int64 // bytes
	layers []string                // keys of snapshots, lowest first
}

// partsOf lists an image's parts by its manifest and configuration. Of an image for several
// platforms that is what is in the store.
func partsOf(ctx context.Context, c *client.Client, img client.Image) (parts, error) {
	p := parts{blobs: map[digest.Digest]int64{}}
	walk := func(_ context.Context, desc ocispec.Descriptor) ([]ocispec.Descriptor, error) {
		below, err := images.Children(ctx, c.ContentStore(), desc)
		if errdefs.IsNotFound(err) {
			return nil, nil
		}
		p.blobs[desc.Digest] = desc.Size
		return below, err
	}
	if err := images.Walk(ctx, images.HandlerFunc(walk), img.Target()); err != nil {
		return p, err
	}
	ids, err := img.RootFS(ctx)
	for i := range ids {
		p.layers = append(p.layers, identity.ChainID(append([]digest.Digest(nil), ids[:i+1]...)).String())
	}
	return p, err
}

// usedByOthers are the parts of all other images of the namespace. Another name of an image is
// not another image.
func usedByOthers(ctx context.Context, c *client.Client, own client.Image) (map[string]bool, error) {
	list, err := c.ListImages(ctx)
	if err != nil {
		return nil, err
	}
	used := map[string]bool{}
	for _, img := range list {
		if img.Target().Digest == own.Target().Digest {
			continue
		}
		p, err := partsOf(ctx, c, img)
		if err != nil && !errdefs.IsNotFound(err) { // removed meanwhile, or for another platform
			return nil, err
		}
		for b := range p.blobs {
			used[b.String()] = true
		}
		for _, key := range p.layers {
			used[key] = true
		}
	}
	return used, nil
}

// contentRoot is where the daemon keeps blobs; empty where it does not tell.
func contentRoot(ctx context.Context, c *client.Client) string {
	resp, err := c.IntrospectionService().Plugins(ctx, "type==io.containerd.content.v1")
	if err != nil || len(resp.Plugins) == 0 {
		return ""
	}
	return resp.Plugins[0].Exports["root"]
}

func blob(root string, d digest.Digest, size int64) Layer {
	if root != "" {
		if u, err := adapter.DiskUsage(filepath.Join(root, "blobs", d.Algorithm().String(), d.Encoded())); err == nil && u.Apparent == size {
			return Layer{Allocated: u.Allocated, Seen: true}
		}
	}
	return Layer{Allocated: size}
}

// how says how parts were measured, some of which were read by their blocks.
func how(seen, all int) string {
	const words = "st_blocks of blobs and of the snapshots' directories"
	switch seen {
	case all:
		return words
	case 0:
		return "bytes of blobs, and containerd's usage of snapshots"
	}
	return fmt.Sprintf("%s; of %d of %d parts containerd's own word", words, all-seen, all)
}
