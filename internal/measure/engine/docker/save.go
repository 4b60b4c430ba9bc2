package docker

import (
	"context"
	"errors"
	"io"
)

// Save writes what `docker save` prints.
func (env *environment) Save(ctx context.Context, ref string) (int64, error) {
	archive, err := env.d.ImageSave(ctx, []string{ref})
	if err != nil {
		return 0, env.d.wrong("saving the image "+ref, err)
	}
	n, err := io.Copy(io.Discard, archive)
	if err = errors.Join(err, archive.Close()); err != nil {
		return n, env.d.wrong("saving the image "+ref, err)
	}
	return n, nil
}
