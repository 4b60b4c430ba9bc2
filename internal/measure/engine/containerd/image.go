package containerd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/containerd/containerd/v2/client"
	coreimages "github.com/containerd/containerd/v2/core/images"
	"github.com/containerd/containerd/v2/core/leases"
	"github.com/containerd/errdefs"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/archive"
	"plimsoll/internal/measure/image"
	"plimsoll/internal/record"
)

// provide imports an image into the daemon's store, unless another environment
// of this run has done so, unpacks it for the snapshotter, and verifies that
// what the store holds is the image. release must be called when it is not
// needed any more.
func (e *Engine) provide(ctx context.Context, d *daemon, kit *engine.Kit, name, snapshotter string) (img client.Image, release func(context.Context) error, err error) {
	tag := kit.Images.Tag(name, kit.RunID)
	path, err := kit.Images.Path(ctx, name, image.DockerArchive)
	if err != nil {
		return nil, nil, &engine.Error{Class: record.Unavailable, Text: fmt.Sprintf("building the image %s as a docker archive", name), Err: err}
	}
	want, err := archive.Read(path)
	if err != nil {
		return nil, nil, &engine.Error{Class: record.HarnessError, Text: fmt.Sprintf("loading the image %s", name), Err: err}
	}
	release, err = e.images.Hold(ctx, adapter.Socket(d.socket)+" "+tag, func(ctx context.Context) (func(context.Context) error, error) {
		leave, err := e.enterSpace(ctx, d, kit)
		return func(ctx context.Context) error {
			if err := d.removeImage(ctx, tag); err != nil {
				return err
			}
			return leave(ctx)
		}, err
	})
	if err != nil {
		return nil, nil, err
	}
	img, err = d.load(ctx, kit, path, tag, snapshotter)
	if err == nil {
		err = verify(ctx, img, want)
	}
	if err != nil {
		return nil, nil, errors.Join(err, release(context.WithoutCancel(ctx)))
	}
	return img, release, nil
}

// enterSpace makes the run's namespace where no other image is in it; the ledger
// has the namespace, and with it all that is in it.
func (e *Engine) enterSpace(ctx context.Context, d *daemon, kit *engine.Kit) (leave func(context.Context) error, err error) {
	return e.spaces.Hold(ctx, adapter.Socket(d.socket)+" "+d.namespace, func(ctx context.Context) (func(context.Context) error, error) {
		return func(ctx context.Context) error { return d.removeNamespace(ctx, kit.Ledger, d.namespace) },
			d.makeNamespace(ctx, kit.Ledger, d.namespace)
	})
}

// load imports the archive where the store has not got it, and unpacks it.
func (d *daemon) load(ctx context.Context, kit *engine.Kit, path, tag, snapshotter string) (client.Image, error) {
	// A lease of ours, with the run in its label, keeps the collector off.
	ctx, done, err := d.WithLease(ctx, leases.WithRandomID(), leases.WithExpiration(time.Hour),
		leases.WithLabels(map[string]string{engine.Label: kit.RunID}))
	if err != nil {
		return nil, d.wrong("leasing space for the image "+tag, err)
	}
	defer func() { _ = done(context.WithoutCancel(ctx)) }() // it expires by itself too
	img, err := d.GetImage(ctx, tag)
	if errdefs.IsNotFound(err) {
		if err := d.importArchive(ctx, kit, path); err != nil {
			return nil, d.wrong("importing the image "+path, err)
		}
		img, err = d.GetImage(ctx, tag)
	}
	if err != nil {
		return nil, d.wrong("looking up the image "+tag+" after it was imported", err)
	}
	if err := img.Unpack(ctx, snapshotter); err != nil {
		return nil, d.wrong(fmt.Sprintf("unpacking the image %s for the snapshotter %s", tag, snapshotter), err)
	}
	return img, nil
}

func (d *daemon) importArchive(ctx context.Context, kit *engine.Kit, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = d.Import(ctx, f, client.WithImageLabels(map[string]string{engine.Label: kit.RunID}))
	return err
}

func verify(ctx context.Context, img client.Image, want archive.Image) error {
	have, err := img.RootFS(ctx)
	if err != nil {
		return &engine.Error{Class: record.EngineError, Text: "reading the configuration of the image " + img.Name(), Err: err}
	}
	var layers []string
	for _, d := range have {
		layers = append(layers, d.String())
	}
	if !slices.Equal(layers, want.Layers) {
		return &engine.Error{Class: record.WrongComponent,
			Text: fmt.Sprintf("containerd's image %s has the layers %v, the one that was imported has %v", img.Name(), layers, want.Layers)}
	}
	return nil
}

// removeImage takes a tag away, and all of the image that nobody else uses:
// it returns when the collector has been through.
func (d *daemon) removeImage(ctx context.Context, tag string) error {
	err := d.ImageService().Delete(ctx, tag, coreimages.SynchronousDelete())
	if err != nil && !errdefs.IsNotFound(err) {
		return d.wrong("removing the image "+tag, err)
	}
	return nil
}
