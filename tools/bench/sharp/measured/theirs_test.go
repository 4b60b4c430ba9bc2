package measured

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"plimsoll/internal/common/require"
)

// fake stands for hyperfine: its runtime takes a second, and tells that it came to its end.
const fake = `#!/bin/sh
while [ "$1" != --export-json ]; do shift; done
sh -c 'echo >%[1]s/begun; sleep 1; echo >%[1]s/ended' &
wait
echo '{"results":[{"times":[0.5],"exit_codes":[0]}]}' >"$2"
`

// TestRoundEnds: whoever interrupts a round leaves no runtime half-way, of which things
// would stay that nobody knows of. A round that has not begun does not begin any more.
func TestRoundEnds(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for a second: left out with -short")
	}
	dir := t.TempDir()
	h := &hyperfine{path: filepath.Join(dir, "hyperfine"), dir: dir, programs: []string{"crun"}, perRound: 1}
	require.NoError(t, os.WriteFile(h.path, fmt.Appendf(nil, fake, dir), 0o755))
	there := func(name string) bool {
		_, err := os.Stat(filepath.Join(dir, name))
		return err == nil
	}
	ctx, interrupt := context.WithCancel(t.Context())
	go func() {
		for !there("begun") && ctx.Err() == nil {
			time.Sleep(time.Millisecond)
		}
		interrupt()
	}()
	r, failed, err := h.round(ctx)
	if err != nil || failed != 0 || len(r.Times) != 1 || len(r.Times[0]) != 1 || ctx.Err() == nil {
		t.Errorf("%+v, %d failed, %v", r, failed, err)
	}
	if !there("ended") {
		t.Error("the runtime was ended half-way")
	}
	require.NoError(t, os.Remove(filepath.Join(dir, "begun")))
	if _, _, err := h.round(ctx); err == nil || there("begun") {
		t.Errorf("a round began after all: %v", err)
	}
}
