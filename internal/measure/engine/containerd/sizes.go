package containerd

import (
	"context"
	"strings"

	"github.com/containerd/containerd/v2/core/mount"
	"github.com/containerd/containerd/v2/pkg/namespaces"
	"github.com/containerd/errdefs"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/containerdclient"
	"plimsoll/internal/record"
)

// Sizes returns as printed size the sum of the blobs, as `ctr images ls` does.
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
	if z, err = containerdclient.Sizes(ctx, env.d.Client, img, z.Printed, env.layer); err != nil {
		return z, env.d.wrong("measuring the image "+ref, err)
	}
	return z, nil
}

// layer is what a layer's snapshot takes. The size of all files is that of the top one.
func (env *environment) layer(ctx context.Context, key string, top bool) (l containerdclient.Layer, err error) {
	s := env.d.SnapshotService(env.settings.snapshotter)
	l.Apparent = -1
	usage, err := s.Usage(ctx, key)
	if err != nil {
		return l, err
	}
	view := adapter.Name(env.kit.RunID, "sizes-"+adapter.Word())
	ctx, done, err := env.d.WithLease(ctx)
	if err != nil {
		return l, err
	}
	defer func() { _ = done(context.WithoutCancel(ctx)) }() // it expires by itself too
	mounts, err := s.View(ctx, view, key)
	if err != nil {
		return l, err
	}
	defer func() {
		if rerr := s.Remove(context.WithoutCancel(ctx), view); err == nil {
			err = rerr
		}
	}()
	if top && env.kit.Root {
		// Where it can't be mounted here, the size stays unknown.
		_ = mount.WithTempMount(ctx, mounts, func(root string) error {
			u, err := adapter.DiskUsage(root)
			if err == nil {
				l.Apparent = u.Apparent
			}
			return err
		})
	}
	// A daemon in a mount namespace of its own names directories that are
	// empty here.
	if dir := ownDirectory(mounts); dir != "" && env.kit.Root {
		if u, err := adapter.DiskUsage(dir); err == nil && (u.Allocated > 0 || usage.Size == 0) {
			l.Allocated, l.Seen = u.Allocated, true
			return l, nil
		}
	}
	l.Allocated = usage.Size
	return l, nil
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
