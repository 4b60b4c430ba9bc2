package charliecloud

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"plimsoll/internal/common/safepath"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/record"
)

// Save writes the compressed archive that ch-convert makes.
func (e *environment) Save(ctx context.Context, ref string) (n int64, err error) {
	ref, err = e.through(ref)
	if err != nil {
		return 0, err
	}
	file := filepath.Join(e.pulls, escaped(ref)+".tar.gz")
	convert, err := e.tool(converter, "-i", "ch-image", "-o", "tar", ref, file)
	if err != nil {
		return 0, err
	}
	defer func() {
		remove := func() error { return safepath.RemoveAll(file) }
		err = errors.Join(err, adapter.AsUser(e.user, e.Kit, remove))
	}()
	if _, err := adapter.Watch(ctx, adapter.Child(convert, 0)); err != nil {
		return 0, &engine.Error{Class: record.EngineError, Text: "making an archive of the image " + ref, Err: err}
	}
	info, err := os.Stat(file)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}
