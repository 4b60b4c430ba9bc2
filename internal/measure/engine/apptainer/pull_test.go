package apptainer

import (
	"testing"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/enginetest"
)

func TestPulls(t *testing.T) {
	for _, storage := range []string{"sif", "sandbox"} {
		for _, rootless := range []string{"no", "yes"} {
			t.Run(storage+" rootless="+rootless, func(t *testing.T) {
				t.Parallel()
				enginetest.Pulls(t, New(), map[string]string{engine.Storage: storage, engine.Rootless: rootless}, enginetest.PullOptions{
					NoSharing: "apptainer asks for a layer before it looks whether it has it, and breaks the answer off"})
			})
		}
	}
}

func TestParseCacheList(t *testing.T) {
	const text = `NAME                     DATE CREATED           SIZE             TYPE
2e37740eddbe29e2c9d177   2026-11-21 05:19:14    0.55 KiB         blob
8b6d9a374b622d10e1542f   2026-11-21 05:19:14    1.50 MiB         oci-tmp

There are 1 container file(s) using 1.04 MiB and 4 oci blob file(s) using 1.02 MiB of space
`
	if got := parseCacheList(text, "8b6d9a374b622d10e1542f7a38cc1bfe50697a7ba1af20b71c5aa2b71d87f90c"); got != 3<<19 {
		t.Errorf("%d, want %d", got, 3<<19)
	}
	if got := parseCacheList(text, "2e37740eddbe29e2c9d177"); got != -1 {
		t.Errorf("a blob was taken for an image file: %d", got)
	}
}
