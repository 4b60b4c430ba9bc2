package sarus

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/image"
	"plimsoll/internal/record"
)

// loaded is how Sarus calls an image that was loaded as NAME.
const loaded = "load/library/"

// references lists the images of the repository, as run and rmi take them:
// the first two columns of `sarus images`.
func (s *sarus) references(ctx context.Context, kit *engine.Kit) ([]string, error) {
	out, err := s.run(ctx, kit, "images")
	if err != nil {
		return nil, err
	}
	return parseImages(out), nil
}

func parseImages(table string) []string {
	var refs []string
	for i, line := range strings.Split(table, "\n") {
		if f := strings.Fields(line); i > 0 && len(f) >= 2 {
			refs = append(refs, f[0]+":"+f[1])
		}
	}
	return refs
}

// provide loads an image into the user's repository, once for all environments of a
// build: whether two builds share a repository is their configurations' affair.
func (e *Engine) provide(ctx context.Context, kit *engine.Kit, s *sarus, name string) (string, func(context.Context) error, error) {
	path, err := kit.ImagePath(ctx, name, image.DockerArchive, s.user)
	if err != nil {
		return "", nil, &engine.Error{Class: record.Unavailable, Text: "providing the image " + name + " as a docker archive", Err: err}
	}
	short := "plimsoll-" + name
	if b := kit.BuildOf(program); b != nil {
		short += "-" + b.Level
	}
	short += ":" + kit.RunID
	ref := loaded + short
	release, err := e.images.Hold(ctx, s.who()+" "+ref, func(ctx context.Context) (func(context.Context) error, error) {
		if err := kit.Ledger.Made(s.thing(engine.KindImage, ref)); err != nil {
			return nil, err
		}
		drop := func(ctx context.Context) error {
			if err := s.remove(ctx, kit, ref); err != nil {
				return err
			}
			return kit.Ledger.Gone(s.thing(engine.KindImage, ref))
		}
		if err := s.load(ctx, kit, path, name, short); err != nil {
			return nil, errors.Join(err, drop(context.WithoutCancel(ctx)))
		}
		return drop, nil
	})
	return ref, release, err
}

// What packing an image as SquashFS may take: this much, and more for each MiB
// of its archive. On a machine with much else to do a toolbox of 120 MB took a
// minute and a half.
const perMiB = 4 * time.Second

// loadLimit is for an archive of this size.
func loadLimit(bytes int64) time.Duration {
	return commandLimit + time.Duration(bytes>>20)*perMiB
}

// load gets an archive into the repository, which unpacks it and packs it
// again; the user is told of the stages of what takes long.
func (s *sarus) load(ctx context.Context, kit *engine.Kit, path, name, as string) error {
	fi, err := os.Stat(path)
	if err != nil {
		return &engine.Error{Class: record.HarnessError, Text: "loading the image " + name, Err: err}
	}
	limit := loadLimit(fi.Size())
	if limit > commandLimit {
		kit.TakesLonger(fmt.Sprintf("loading the image %s into Sarus, which packs its %d MiB as SquashFS; it may take up to %v", name, fi.Size()>>20, limit), limit)
	}
	c := adapter.Child(s.command(kit, "load", path, as), limit)
	if limit > commandLimit {
		c.Stdout = &stages{tell: func(stage string) { kit.TakesLonger("Sarus: "+stage, 0) }}
	}
	if _, err = said(ctx, c); err == nil {
		return nil
	}
	return &engine.Error{Class: record.EngineError, Text: "loading the image " + name, Err: err}
}

// stages tells of the lines that Sarus begins a stage of its work with: "> ".
type stages struct {
	tell func(string)
	line []byte
}

func (w *stages) Write(b []byte) (int, error) {
	for _, c := range b {
		if c != '\n' {
			if len(w.line) < 200 {
				w.line = append(w.line, c)
			}
			continue
		}
		if stage, ok := strings.CutPrefix(string(w.line), "> "); ok {
			w.tell(stage)
		}
		w.line = w.line[:0]
	}
	return len(b), nil
}

func (s *sarus) remove(ctx context.Context, kit *engine.Kit, ref string) error {
	refs, err := s.references(ctx, kit)
	if err == nil && slices.Contains(refs, ref) {
		_, err = s.run(ctx, kit, "rmi", ref)
	}
	return err
}
