package docker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/moby/moby/client"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/archive"
	"plimsoll/internal/measure/host"
	"plimsoll/internal/measure/image"
	"plimsoll/internal/record"
)

// provide loads an image into the daemon's store, unless another environment
// of this run has done so, and verifies that what the store holds is the
// image: the digests of its layers and, in the daemon's classic store, its id.
// release must be called when it is not needed any more.
func (e *Engine) provide(ctx context.Context, d *daemon, kit *engine.Kit, name string) (tag string, release func(context.Context) error, err error) {
	tag = kit.Images.Tag(name, kit.RunID)
	path, err := kit.Images.Path(ctx, name, image.DockerArchive)
	if err != nil {
		return "", nil, &engine.Error{Class: record.Unavailable, Text: fmt.Sprintf("building the image %s as a docker archive", name), Err: err}
	}
	want, err := archive.Read(path)
	if err != nil {
		return "", nil, &engine.Error{Class: record.HarnessError, Text: fmt.Sprintf("loading the image %s", name), Err: err}
	}
	release, err = e.images.Hold(ctx, adapter.Socket(d.host)+" "+tag, func(ctx context.Context) (func(context.Context) error, error) {
		if err := d.enter(kit.Ledger, engine.KindImage, tag); err != nil {
			return nil, err
		}
		return func(ctx context.Context) error {
			if err := removeImage(ctx, d, tag); err != nil {
				return err
			}
			return d.strike(kit.Ledger, engine.KindImage, tag)
		}, load(ctx, d, path)
	})
	if err != nil {
		return "", nil, err
	}
	if err := verify(ctx, d, tag, want); err != nil {
		return "", nil, errors.Join(err, release(ctx))
	}
	return tag, release, nil
}

// removeImage takes our tag away, and the image where nobody else has a tag on
// it. It is not forced: an image that a container of somebody else's was made
// of stays, and so does our tag, by which the daemon then knows it.
func removeImage(ctx context.Context, d *daemon, tag string) error {
	leave, err := host.ImageTurn(ctx, d.flavour.name)
	if err != nil {
		return err
	}
	defer leave()
	_, err = d.ImageRemove(ctx, tag, client.ImageRemoveOptions{PruneChildren: true})
	switch {
	case err == nil, cerrdefs.IsNotFound(err):
		return nil
	case cerrdefs.IsConflict(err):
		return &engine.Error{Class: record.UncleanEnd, Err: err,
			Text: "the image " + tag + " is kept, since a container that is not of this run uses it",
			Fix:  "remove that container, then " + d.flavour.program + " rmi " + tag}
	}
	return d.wrong("removing the image "+tag, err)
}

func load(ctx context.Context, d *daemon, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return &engine.Error{Class: record.HarnessError, Text: "opening the image for the " + d.flavour.name + " daemon", Err: err}
	}
	defer f.Close()
	leave, err := host.ImageTurn(ctx, d.flavour.name)
	if err != nil {
		return err
	}
	defer leave()
	resp, err := d.ImageLoad(ctx, f, client.ImageLoadWithQuiet(true))
	if err != nil {
		return d.wrong("loading the image "+path, err)
	}
	defer resp.Close()
	// The answer is a stream of progress; that the load has failed stands in
	// it, under a status of success.
	dec := json.NewDecoder(resp)
	for {
		var m struct{ Error string }
		switch err := dec.Decode(&m); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return d.wrong("loading the image "+path, err)
		case m.Error != "":
			return d.wrong("loading the image "+path, errors.New(m.Error))
		}
	}
}

func verify(ctx context.Context, d *daemon, tag string, want archive.Image) error {
	have, err := d.ImageInspect(ctx, tag)
	if err != nil {
		return d.wrong("looking up the image "+tag+" after it was loaded", err)
	}
	if !slices.Equal(have.RootFS.Layers, want.Layers) {
		return &engine.Error{Class: record.WrongComponent,
			Text: fmt.Sprintf("the %s daemon's image %s has the layers %v, the one that was loaded has %v", d.flavour.name, tag, have.RootFS.Layers, want.Layers)}
	}
	return nil
}
