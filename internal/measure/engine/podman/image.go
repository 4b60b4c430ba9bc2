package podman

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/archive"
	"plimsoll/internal/measure/host"
	"plimsoll/internal/measure/image"
	"plimsoll/internal/record"
)

// provide loads an image into podman's store, unless another environment of
// this run has done so, and verifies its layers. release must be called when
// it is not needed any more.
func (e *Engine) provide(ctx context.Context, kit *engine.Kit, p *program, name string) (tag string, release func(context.Context) error, err error) {
	tag = kit.Images.Tag(name, kit.RunID)
	path, err := kit.ImagePath(ctx, name, image.DockerArchive, p.user)
	if err != nil {
		return "", nil, &engine.Error{Class: record.Unavailable, Text: fmt.Sprintf("building the image %s as a docker archive", name), Err: err}
	}
	want, err := archive.Read(path)
	if err != nil {
		return "", nil, &engine.Error{Class: record.HarnessError, Text: "loading the image " + name, Err: err}
	}
	key := p.who() + " " + p.store.root + " " + tag
	ledger := p.thing(engine.KindImage, tag)
	release, err = e.images.Hold(ctx, key, func(ctx context.Context) (func(context.Context) error, error) {
		if err := kit.Ledger.Made(ledger); err != nil {
			return nil, err
		}
		drop := func(ctx context.Context) error {
			if err := p.removeImage(ctx, tag); err != nil {
				return err
			}
			return kit.Ledger.Gone(ledger)
		}
		if err := p.load(ctx, path); err != nil {
			return nil, errors.Join(wrong("loading the image "+path+" as "+p.who(), err), drop(context.WithoutCancel(ctx)))
		}
		return drop, nil
	})
	if err != nil {
		return "", nil, err
	}
	if err := p.verify(ctx, tag, want); err != nil {
		return "", nil, errors.Join(err, release(context.WithoutCancel(ctx)))
	}
	return tag, release, nil
}

// keepPassing gives what Podman writes down during a pull or a load, blobs as large as the
// image, a directory in the run's folder: a kill leaves them.
func (p *program) keepPassing(kit *engine.Kit) error {
	dir := filepath.Join(kit.Dir, "podman-passing-"+p.who())
	p.env = append(slices.Clone(p.env), "TMPDIR="+dir)
	return adapter.OwnDirMode(dir, p.as, kit, 0o700)
}

func (p *program) load(ctx context.Context, path string) error {
	leave, err := host.ImageTurn(ctx, "podman")
	if err != nil {
		return err
	}
	defer leave()
	_, err = p.output(ctx, "load", "--quiet", "--input", path)
	return err
}

func (p *program) verify(ctx context.Context, tag string, want archive.Image) error {
	var have []struct{ RootFS struct{ Layers []string } }
	if err := p.read(ctx, &have, "image", "inspect", "--format", "json", tag); err != nil {
		return wrong("looking up the image "+tag+" after it was loaded", err)
	}
	if len(have) != 1 || !slices.Equal(have[0].RootFS.Layers, want.Layers) {
		return &engine.Error{Class: record.WrongComponent,
			Text: fmt.Sprintf("podman's image %s has the layers %v, the one that was loaded has %v", tag, have, want.Layers)}
	}
	return nil
}

// inUse is podman's exit status where an image is in use by a container.
const inUse = 2

// removeImage takes our tag away, and the image where nobody else has one. It is
// not forced, which would remove the containers that somebody has made of it.
func (p *program) removeImage(ctx context.Context, tag string) error {
	leave, err := host.ImageTurn(ctx, "podman")
	if err != nil {
		return err
	}
	defer leave()
	there, err := p.known(ctx, "image", tag)
	if err != nil || !there {
		return err
	}
	_, err = p.output(ctx, "rmi", tag)
	var f *failed
	switch {
	case err == nil:
		return nil
	case errors.As(err, &f) && f.status == inUse:
		return &engine.Error{Class: record.UncleanEnd, Err: err,
			Text: "the image " + tag + " is kept, since a container that is not of this run uses it (as " + p.who() + ")",
			Fix:  "remove that container, then podman rmi " + tag}
	}
	if there, kerr := p.known(ctx, "image", tag); kerr == nil && !there {
		return nil
	}
	return wrong("removing the image "+tag, err)
}

// known says whether podman has a container or an image of this name.
// A container that has nothing but its storage counts.
func (p *program) known(ctx context.Context, kind, name string) (bool, error) {
	args := []string{kind, "exists"}
	if kind == engine.KindContainer {
		args = append(args, "--external")
	}
	_, err := p.output(ctx, append(args, name)...)
	var f *failed
	switch {
	case err == nil:
		return true, nil
	case errors.As(err, &f) && f.status == 1:
		return false, nil
	}
	return false, wrong("looking for the "+kind+" "+name, err)
}
