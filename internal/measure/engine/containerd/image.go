package containerd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/containerd/containerd/v2/client"
	coreimages "github.com/containerd/containerd/v2/core/images"
	"github.com/containerd/containerd/v2/core/leases"
	"github.com/containerd/errdefs"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/archive"
	"plimsoll/internal/measure/image"
	"plimsoll/internal/record"
)

// images counts who uses an image in a daemon's store: several environments of
// a run share one, and the last to close takes it away.
type images struct {
	mu   *sync.Mutex
	held map[string]int // by socket and tag
}

// provide imports an image into the daemon's store, unless another environment
// of this run has done so, unpacks it for the snapshotter, and verifies that
// what the store holds is the image. release must be called when it is not
// needed any more.
func (im *images) provide(ctx context.Context, d *daemon, kit *engine.Kit, name, snapshotter string) (img client.Image, release func(context.Context) error, err error) {
	im.mu.Lock()
	defer im.mu.Unlock()
	tag := kit.Images.Tag(name, kit.RunID)
	key := d.socket + " " + tag
	path, err := kit.Images.Path(ctx, name, image.DockerArchive)
	if err != nil {
		return nil, nil, &engine.Error{Class: record.Unavailable, Text: fmt.Sprintf("building the image %s as a docker archive", name), Err: err}
	}
	want, err := archive.Read(path)
	if err != nil {
		return nil, nil, &engine.Error{Class: record.HarnessError, Text: fmt.Sprintf("loading the image %s", name), Err: err}
	}
	if im.held[key] == 0 {
		// The ledger has the namespace, and with it all that is in it.
		if err := d.makeNamespace(ctx, kit.Ledger, d.namespace); err != nil {
			return nil, nil, err
		}
	}
	im.held[key]++
	var once sync.Once
	release = func(ctx context.Context) error {
		var err error
		once.Do(func() {
			im.mu.Lock()
			defer im.mu.Unlock()
			err = im.drop(ctx, d, kit, key, tag)
		})
		return err
	}
	img, err = d.load(ctx, kit, path, tag, snapshotter)
	if err == nil {
		err = verify(ctx, img, want)
	}
	if err != nil {
		return nil, nil, errors.Join(err, im.drop(context.WithoutCancel(ctx), d, kit, key, tag))
	}
	return img, release, nil
}

// drop takes a holder away, and the image after the last; the lock is held.
func (im *images) drop(ctx context.Context, d *daemon, kit *engine.Kit, key, tag string) error {
	if im.held[key]--; im.held[key] > 0 {
		return nil
	}
	delete(im.held, key)
	if err := d.removeImage(ctx, tag); err != nil {
		return err
	}
	for k := range im.held {
		if strings.HasPrefix(k, d.socket+" ") {
			return nil // another image of the namespace's is in use
		}
	}
	return d.removeNamespace(ctx, kit.Ledger, d.namespace)
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
