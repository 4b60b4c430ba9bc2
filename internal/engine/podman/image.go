package podman

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"plimsoll/internal/engine"
	"plimsoll/internal/engine/archive"
	"plimsoll/internal/image"
	"plimsoll/internal/record"
)

// provide loads an image into podman's store, unless another environment of
// this run has done so, and verifies its layers. release must be called when
// it is not needed any more.
func (e *Engine) provide(ctx context.Context, kit *engine.Kit, p *program, name string) (tag string, release func(context.Context) error, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	tag = kit.Images.Tag(name, kit.RunID)
	path, err := kit.Images.Path(ctx, name, image.DockerArchive)
	if err != nil {
		return "", nil, &engine.Error{Class: record.Unavailable, Text: fmt.Sprintf("building the image %s as a docker archive", name), Err: err}
	}
	want, err := archive.Read(path)
	if err != nil {
		return "", nil, &engine.Error{Class: record.HarnessError, Text: "loading the image " + name, Err: err}
	}
	key := p.who() + " " + p.store.root + " " + tag
	ledger := "podman " + p.who() + " " + tag
	drop := func(ctx context.Context) error {
		if e.images[key]--; e.images[key] > 0 {
			return nil
		}
		delete(e.images, key)
		if err := p.removeImage(ctx, tag); err != nil {
			return err
		}
		return kit.Ledger.Gone("image", ledger)
	}
	if e.images[key]++; e.images[key] == 1 {
		if err := kit.Ledger.Made("image", ledger); err != nil {
			delete(e.images, key)
			return "", nil, err
		}
		if _, err := p.output(ctx, "load", "--quiet", "--input", path); err != nil {
			return "", nil, errors.Join(wrong("loading the image "+path+" as "+p.who(), err), drop(context.WithoutCancel(ctx)))
		}
	}
	if err := p.verify(ctx, tag, want); err != nil {
		return "", nil, errors.Join(err, drop(context.WithoutCancel(ctx)))
	}
	var once sync.Once
	return tag, func(ctx context.Context) (err error) {
		once.Do(func() {
			e.mu.Lock()
			defer e.mu.Unlock()
			err = drop(ctx)
		})
		return err
	}, nil
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

// removeImage takes our tag away, and the image where nobody else has one.
func (p *program) removeImage(ctx context.Context, tag string) error {
	there, err := p.known(ctx, "image", tag)
	if err != nil || !there {
		return err
	}
	if _, err := p.output(ctx, "rmi", "--force", tag); err != nil {
		return wrong("removing the image "+tag, err)
	}
	return nil
}

// known says whether podman has a container or an image of this name.
func (p *program) known(ctx context.Context, kind, name string) (bool, error) {
	_, err := p.output(ctx, kind, "exists", name)
	var f *failed
	switch {
	case err == nil:
		return true, nil
	case errors.As(err, &f) && f.status == 1:
		return false, nil
	}
	return false, wrong("looking for the "+kind+" "+name, err)
}

// ours says whether a tag is of an image of ours: loaded, or pulled from a
// registry of a run's on loopback.
func ours(tag string) bool {
	host, rest, _ := strings.Cut(tag, "/")
	return (host == "localhost" || strings.HasPrefix(host, "127.0.0.1:")) && strings.HasPrefix(rest, "plimsoll/")
}

// tags lists our images' tags, of one run or of any.
func (p *program) tags(ctx context.Context, runID string) ([]string, error) {
	var list []struct{ Names []string }
	if err := p.read(ctx, &list, "images", "--format", "json"); err != nil {
		return nil, wrong("listing the images of ours", err)
	}
	var tags []string
	for _, img := range list {
		for _, tag := range img.Names {
			if ours(tag) && (runID == "" || strings.HasSuffix(tag, ":"+runID)) && !slices.Contains(tags, tag) {
				tags = append(tags, tag)
			}
		}
	}
	return tags, nil
}
