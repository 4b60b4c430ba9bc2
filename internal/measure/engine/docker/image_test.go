package docker

import (
	"sync"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine/enginetest"
)

// TestImagesBeside: several runs load the same image and remove it again beside each
// other, and none loses its tag. Docker, left to itself, removes with the last tag
// those that others have set since it counted.
func TestImagesBeside(t *testing.T) {
	t.Parallel()
	var wg sync.WaitGroup
	for range 8 {
		kit := enginetest.Kit(t)
		e := New()
		if det := e.Detect(t.Context(), kit); !det.Usable {
			t.Skipf("docker is not usable here: %s", det.Reason)
		}
		d, err := e.user(t.Context(), kit)
		require.NoError(t, err)
		wg.Go(func() {
			defer d.Close()
			for range 12 {
				tag, release, err := e.provide(t.Context(), d, kit, "payload")
				if err != nil {
					t.Errorf("providing: %v", err)
					continue
				}
				if there, err := d.has(t.Context(), tag); !there || err != nil {
					t.Errorf("%s is gone (%v)", tag, err)
				}
				if err := release(t.Context()); err != nil {
					t.Errorf("releasing: %v", err)
				}
			}
		})
	}
	wg.Wait()
}
