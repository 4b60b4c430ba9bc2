package cli

import (
	"path/filepath"
	"testing"

	"plimsoll/internal/common/require"
)

// TestLedgersOfAState: with a state directory of one's own no ledger of another one is found.
func TestLedgersOfAState(t *testing.T) {
	state, xdg := t.TempDir(), t.TempDir()
	for _, c := range []struct{ state, xdg, want string }{
		{state, "", filepath.Join(state, "portable")},
		{state, xdg, filepath.Join(state, "portable")},
		{"", xdg, filepath.Join(xdg, "plimsoll", "portable")},
	} {
		w := World{Getenv: func(k string) string { return map[string]string{"PLIMSOLL_STATE": c.state, "XDG_STATE_HOME": c.xdg}[k] }}
		got, err := w.ledgers()
		require.NoError(t, err)
		if got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}
