package forward_test

import (
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine/forward"
	"plimsoll/internal/measure/engine/kittest"
)

// Wherever forwarded packets are dropped a rule for a network that is routed is
// made, is found again as it was made, and leaves nothing.
func TestLetNetwork(t *testing.T) {
	const network = "10.213.9.0/24"
	for _, s := range states {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			if !kittest.OwnNetwork(t, s.program) {
				return
			}
			for _, c := range s.drop {
				kittest.Command(t, strings.Fields(c)...)
			}
			before := listing(t)
			kit, ledger := kit()
			p, err := forward.Let(t.Context(), kit, network)
			require.NoError(t, err)
			if now := listing(t); strings.Count(now, network) < 2 {
				t.Errorf("no rule names the network twice, as source and as destination:\n%s", now)
			}
			things := ledger.Left()
			if len(things) == 0 || !strings.HasPrefix(p.Facts()["packet-filter"], "a rule for the run's network in ") {
				t.Fatalf("the ledger has %v, and the facts are %v", things, p.Facts())
			}
			// As after a kill, by what the ledger says.
			for _, want := range []bool{true, false} {
				if did, err := forward.Remove(t.Context(), kit, things[0]); err != nil || did != want {
					t.Errorf("removed: %v, %v, want %v", did, err, want)
				}
			}
			if err := p.Close(t.Context()); err != nil {
				t.Error(err)
			}
			if after := listing(t); after != before {
				t.Errorf("the packet filter is\n%s\nand was\n%s", after, before)
			}
		})
	}
}
