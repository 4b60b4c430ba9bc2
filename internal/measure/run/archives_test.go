package run

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/fake"
	"plimsoll/internal/measure/image"
)

// loading is the fake engine that loads an image from an archive, as engines
// with a store of their own do.
type loading struct {
	spoiled
	path *string
}

func (l loading) Open(ctx context.Context, kit *engine.Kit, spec engine.Spec) (engine.Environment, error) {
	var err error
	if *l.path, err = kit.Images.Path(ctx, "payload", image.DockerArchive); err != nil {
		return nil, err
	}
	return l.Fake.Open(ctx, kit, spec)
}

// The image archives of a run, hundreds of MB where the images are large, go
// when it ends; the images stay.
func TestArchivesGoAtTheEnd(t *testing.T) {
	var path string
	o := options(t, 1, loading{spoiled{Fake: fake.New(), name: "loading"}, &path})
	if _, err := Execute(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if path == "" {
		t.Fatal("no archive was made")
	}
	if _, err := os.Stat(path); err == nil {
		t.Errorf("%s was left behind", path)
	}
	if left, err := filepath.Glob(filepath.Join(o.State.Images(), "v*", "payload-*", "oci")); err != nil || len(left) != 1 {
		t.Errorf("the image is gone too: %v %v", left, err)
	}
}
