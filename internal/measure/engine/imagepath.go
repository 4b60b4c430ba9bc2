package engine

import (
	"context"
	"fmt"
	"time"

	"plimsoll/internal/measure/image"
	"plimsoll/internal/record"
)

// elsewhereLimit is how much longer an image may take on another file system than
// the state directory's.
const elsewhereLimit = 15 * time.Minute

// SpecImage provides the image of a spec in a format, for an engine that the
// user runs; nil is ourselves. Its error is of class record.Unavailable.
func (k *Kit) SpecImage(ctx context.Context, spec Spec, f image.Format, user *User) (string, error) {
	name := ImageName(spec)
	at, err := k.on(spec.Level(ImageOn))
	if err != nil {
		return "", err
	}
	if at != k { // thousands of files, each a request
		k.TakesLonger(fmt.Sprintf("providing the image %s for %s, on a file system that may take long", name, spec.ID), elsewhereLimit)
	}
	path, err := at.ImagePath(ctx, name, f, user)
	if err != nil {
		return "", &Error{Class: record.Unavailable, Text: fmt.Sprintf("providing the image %s for %s", name, spec.ID), Err: err}
	}
	return path, nil
}

// ImagePath gives the path of an image for an engine that the user runs; nil
// is ourselves. What is root's own an ordinary user can't reach, and a path that
// the user can't reach is an error: the engine would fail with words that tell
// nothing of it.
func (k *Kit) ImagePath(ctx context.Context, name string, f image.Format, user *User) (string, error) {
	if user == nil {
		return k.Images.Path(ctx, name, f)
	}
	path, err := k.Images.PathFor(ctx, name, f, user.UID, user.GID)
	if err != nil {
		return "", err
	}
	return path, user.reaches(path)
}
