package containerd

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/containerd/containerd/v2/client"
	coreimages "github.com/containerd/containerd/v2/core/images"
	"github.com/containerd/containerd/v2/core/mount"
	"github.com/containerd/containerd/v2/pkg/namespaces"
	"github.com/containerd/errdefs"
	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/identity"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/record"
)

// parts are what an image is made of in the store: its blobs, and the
// snapshots that its layers were unpacked into.
type parts struct {
	blobs  map[digest.Digest]int64 // bytes
	layers []string                // keys of snapshots, lowest first
}

// Sizes is documented in engine.Puller. Printed is the sum of the blobs, as
// `ctr images ls` has it.
func (env *environment) Sizes(ctx context.Context, ref string) (engine.ImageSizes, error) {
	z := engine.ImageSizes{Printed: -1, Unpacked: -1, Converted: -1}
	ctx, cancel := context.WithTimeout(namespaces.WithNamespace(ctx, pullNamespace(env.kit.RunID)), pullLimit)
	defer cancel()
	img, err := env.d.GetImage(ctx, ref)
	if errdefs.IsNotFound(err) {
		return z, &engine.Error{Class: record.Unavailable, Text: "containerd has no image " + ref}
	}
	if err != nil {
		return z, env.d.wrong("looking up the image "+ref, err)
	}
	if z.Printed, err = img.Size(ctx); err != nil {
		return z, env.d.wrong("asking for the size of "+ref, err)
	}
	own, err := env.d.partsOf(ctx, img)
	if err != nil {
		return z, env.d.wrong("taking the image "+ref+" apart", err)
	}
	used, err := env.d.usedByOthers(ctx, ref)
	if err != nil {
		return z, env.d.wrong("looking at the other images", err)
	}
	m := &measure{env: env, content: env.d.contentRoot(ctx)}
	for d, size := range own.blobs {
		m.add(&z, used[d.String()], m.blob(d, size))
	}
	for i, key := range own.layers {
		n, apparent, err := m.layer(ctx, key, i == len(own.layers)-1)
		if err != nil {
			return z, env.d.wrong("measuring the unpacked image", err)
		}
		m.add(&z, used[key], n)
		if apparent >= 0 {
			z.Unpacked = apparent
		}
	}
	z.Disk = z.Shared + z.Unique
	z.How = m.how()
	return z, nil
}

// partsOf lists an image's parts by its manifest and configuration.
func (d *daemon) partsOf(ctx context.Context, img client.Image) (parts, error) {
	p := parts{blobs: map[digest.Digest]int64{}}
	walk := func(_ context.Context, desc ocispec.Descriptor) ([]ocispec.Descriptor, error) {
		p.blobs[desc.Digest] = desc.Size
		return coreimages.Children(ctx, d.ContentStore(), desc)
	}
	if err := coreimages.Walk(ctx, coreimages.HandlerFunc(walk), img.Target()); err != nil {
		return p, err
	}
	ids, err := img.RootFS(ctx)
	for i := range ids {
		p.layers = append(p.layers, identity.ChainID(append([]digest.Digest(nil), ids[:i+1]...)).String())
	}
	return p, err
}

// usedByOthers are the parts of all other images of the namespace.
func (d *daemon) usedByOthers(ctx context.Context, ref string) (map[string]bool, error) {
	list, err := d.ListImages(ctx)
	if err != nil {
		return nil, err
	}
	used := map[string]bool{}
	for _, img := range list {
		if img.Name() == ref {
			continue
		}
		p, err := d.partsOf(ctx, img)
		if err != nil {
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
func (d *daemon) contentRoot(ctx context.Context) string {
	resp, err := d.IntrospectionService().Plugins(ctx, "type=="+contentType)
	if err != nil || len(resp.Plugins) == 0 {
		return ""
	}
	return resp.Plugins[0].Exports["root"]
}

// measure reads what parts take on the disk.
type measure struct {
	env     *environment
	content string
	seen    int // parts read by their blocks
	told    int // parts of which the daemon's word was taken
}

func (m *measure) add(z *engine.ImageSizes, shared bool, n int64) {
	if shared {
		z.Shared += n
	} else {
		z.Unique += n
	}
}

func (m *measure) how() string {
	const words = "st_blocks of blobs and of the snapshots' directories"
	switch {
	case m.told == 0:
		return words
	case m.seen == 0:
		return "bytes of blobs, and containerd's usage of snapshots"
	}
	return fmt.Sprintf("%s; of %d of %d parts containerd's own word", words, m.told, m.told+m.seen)
}

func (m *measure) blob(d digest.Digest, size int64) int64 {
	if m.content != "" {
		if u, err := adapter.DiskUsage(filepath.Join(m.content, "blobs", d.Algorithm().String(), d.Encoded())); err == nil && u.Apparent == size {
			m.seen++
			return u.Allocated
		}
	}
	m.told++
	return size
}

// layer gives what a layer's snapshot takes on the disk and, of the top one,
// the apparent size of all files of the image, -1 where they can't be seen.
func (m *measure) layer(ctx context.Context, key string, top bool) (allocated, apparent int64, err error) {
	s := m.env.d.SnapshotService(m.env.settings.snapshotter)
	usage, err := s.Usage(ctx, key)
	if err != nil {
		return 0, -1, err
	}
	view := adapter.Name(m.env.kit.RunID, "sizes-"+adapter.Word())
	ctx, done, err := m.env.d.WithLease(ctx)
	if err != nil {
		return 0, -1, err
	}
	defer func() { _ = done(context.WithoutCancel(ctx)) }() // it expires by itself too
	mounts, err := s.View(ctx, view, key)
	if err != nil {
		return 0, -1, err
	}
	defer func() {
		if rerr := s.Remove(context.WithoutCancel(ctx), view); err == nil {
			err = rerr
		}
	}()
	apparent = -1
	if top && m.env.kit.Root {
		// Where it can't be mounted here, the size stays unknown.
		_ = mount.WithTempMount(ctx, mounts, func(root string) error {
			u, err := adapter.DiskUsage(root)
			if err == nil {
				apparent = u.Apparent
			}
			return err
		})
	}
	// A daemon in a mount namespace of its own names directories that are
	// empty here.
	if dir := ownDirectory(mounts); dir != "" && m.env.kit.Root {
		if u, err := adapter.DiskUsage(dir); err == nil && (u.Allocated > 0 || usage.Size == 0) {
			m.seen++
			return u.Allocated, apparent, nil
		}
	}
	m.told++
	return usage.Size, apparent, nil
}

// ownDirectory is the directory of a view's uppermost layer, where it has one.
func ownDirectory(mounts []mount.Mount) string {
	if len(mounts) != 1 {
		return ""
	}
	switch m := mounts[0]; m.Type {
	case "bind":
		return m.Source
	case "overlay":
		for _, o := range m.Options {
			if dirs, ok := strings.CutPrefix(o, "lowerdir="); ok {
				dir, _, _ := strings.Cut(dirs, ":")
				return dir
			}
		}
	}
	return ""
}
