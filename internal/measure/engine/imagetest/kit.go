// Package imagetest is what tests of engines stand on that need real images: a store that
// is kept from test to test, and the image toolbox. It is apart from kittest because it
// links what builds images and serves them.
package imagetest

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/kittest"
	"plimsoll/internal/measure/imagestore"
	"plimsoll/internal/measure/probe"
)

// Kit is kittest.Bare with images. No engine is asked.
func Kit(t testing.TB) *engine.Kit {
	t.Helper()
	kit := kittest.Bare(t)
	Fill(t, kit)
	return kit
}

// Fill gives a kit real images, kept from test to test, since they are the same.
func Fill(t testing.TB, kit *engine.Kit) {
	t.Helper()
	store := imagestore.NewStore(ImageDir(), probe.Binary(), imagestore.Options{RunID: kit.RunID})
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Errorf("closing the image store: %v", err)
		}
	})
	kit.Images = store
}

// ImageDir is where tests keep their images, from one to the next. A test with
// a state directory of its own can link its images to it.
func ImageDir() string {
	return filepath.Join(os.TempDir(), "plimsoll-test-images-"+strconv.Itoa(os.Getuid()))
}
