package enginetest

import (
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/enginetest/images"
	"plimsoll/internal/measure/engine/kittest"
)

// Real leaves a test that asks a real engine out with -short, on every machine
// alike, whatever is installed there.
func Real(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("asks a real engine: left out with -short")
	}
}

// Kit gives a real kit, with images, for a test that asks a real engine.
func Kit(t testing.TB) *engine.Kit {
	t.Helper()
	Real(t)
	kit := kittest.Bare(t)
	// In a ledger apart: what a test demands of the kit's is about the engine.
	putBack, err := adapter.NoteNull(&engine.Kit{Root: kit.Root, Ledger: &kittest.Ledger{}})
	require.NoError(t, err)
	t.Cleanup(func() {
		if err := putBack(); err != nil {
			t.Error(err)
		}
	})
	images.Fill(t, kit)
	return kit
}
