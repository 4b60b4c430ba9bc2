//go:build !unit

// make unit would link Docker's client only to skip this.

package run

import (
	"errors"
	"os"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/bubblewrap"
	"plimsoll/internal/measure/engine/docker"
	"plimsoll/internal/measure/trace"
	"plimsoll/internal/record"
)

// TestTracedStarts: every second start of an engine's command and of a daemon with an
// API is followed from its request to its first byte, by the thread that asked.
func TestTracedStarts(t *testing.T) {
	if testing.Short() {
		t.Skip("starts real containers: left out with -short")
	}
	if os.Geteuid() != 0 {
		t.Skip("following what the kernel does needs root")
	}
	for _, e := range []engine.Engine{bubblewrap.New(), docker.New()} {
		t.Run(e.Info().Name, func(t *testing.T) {
			o := protocolOf(t, "  - hello\n", "  - engine: "+e.Info().Name+"\n", e)
			o.Plan.Protocol.Blocks, o.Trace = 4, &trace.Options{Stacks: true, AllCalls: true}
			sum, err := Execute(t.Context(), o)
			if errors.Is(err, ErrNothing) && len(sum.Excluded) > 0 {
				t.Skip("it can't be had here: ", sum.Excluded[0].Reason)
			}
			require.NoError(t, err)
			r, err := record.Open(o.Dir)
			require.NoError(t, err)
			traced, plain := 0, 0
			for tr, err := range r.Trials() {
				require.NoError(t, err)
				if tr.Failure != nil {
					t.Fatalf("%+v", *tr.Failure)
				}
				if len(tr.Samples) == 0 {
					plain++
					continue
				}
				traced++
				in, err := r.Samples(tr.Samples[0])
				require.NoError(t, err)
				seen, err := record.ReadTrace(in, tr.Samples[0])
				if err = errors.Join(err, in.Close()); err != nil {
					t.Fatal(err)
				}
				if !strings.HasSuffix(tr.Samples[0], ".trace.jsonl") || seen.From != tr.Events[record.Request] || seen.To != tr.Events[record.Ready] ||
					len(seen.Events) < 100 || len(seen.Askers) == 0 || seen.Askers[0] != os.Getpid() {
					t.Errorf("%s: from %d to %d, %d events, asked by %v", tr.Samples[0], seen.From, seen.To, len(seen.Events), seen.Askers)
				}
			}
			if traced != plain || traced == 0 {
				t.Errorf("%d starts were followed, %d not", traced, plain)
			}
		})
	}
}
