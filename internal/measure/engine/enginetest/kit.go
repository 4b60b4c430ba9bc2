package enginetest

import (
	"testing"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/kittest"
	"plimsoll/internal/measure/host"
	"plimsoll/internal/measure/imagestore"
	"plimsoll/internal/measure/probe"
)

// Real leaves a test that asks a real engine out with -short, on every machine
// alike, whatever is installed there.
func Real(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("asks a real engine: left out with -short")
	}
}

// Kit gives a real kit for a test that asks a real engine.
func Kit(t testing.TB) *engine.Kit {
	t.Helper()
	Real(t)
	null := host.Machine{}.Null()
	t.Cleanup(func() {
		if err := null.PutBack(); err != nil {
			t.Error(err)
		}
	})
	return UnitKit(t)
}

// UnitKit is Kit for a test that asks no engine: with real images, kept from test to
// test, since they are the same.
func UnitKit(t testing.TB) *engine.Kit {
	t.Helper()
	kit := kittest.Bare(t)
	store := imagestore.NewStore(ImageDir(), probe.Binary(), imagestore.Options{RunID: kit.RunID})
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Errorf("closing the image store: %v", err)
		}
	})
	kit.Images = store
	return kit
}
