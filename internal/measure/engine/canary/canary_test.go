package canary_test

import (
	"testing"

	"plimsoll/internal/measure/engine/canary"
	"plimsoll/internal/measure/engine/enginetest"
)

// TestPlant: canaries live until they are taken away, and a machine without
// engines has some too.
func TestPlant(t *testing.T) {
	kit := enginetest.Kit(t)
	f := canary.Plant(t, kit, kit.RunID)
	f.State(t.TempDir())
	t.Logf("%d canaries", f.Len())
	if f.Len() < 8 {
		t.Errorf("only %d canaries could be planted", f.Len())
	}
	f.Check()
}
