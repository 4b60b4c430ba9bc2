//go:build !unit

package images

import (
	"testing"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/imagetest"
	"plimsoll/internal/measure/image"
	"plimsoll/internal/measure/imagestore"
	"plimsoll/internal/measure/probe"
)

// Fill gives a kit real images.
func Fill(t testing.TB, kit *engine.Kit) {
	t.Helper()
	imagetest.Fill(t, kit)
}

// New is a store below a directory.
func New(dir string) image.Provider {
	return imagestore.NewStore(dir, probe.Binary(), imagestore.Options{})
}

// Serve starts a registry that keeps what is pushed below a directory.
func Serve(dir string) (Registry, error) { return imagestore.StartRegistry(dir) }
