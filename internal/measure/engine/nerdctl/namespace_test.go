package nerdctl

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/containerd/containerd/v2/pkg/namespaces"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/containerdclient"
	"plimsoll/internal/measure/engine/enginetest"
)

// socket is that of a containerd that answers: nerdctl itself is not needed.
func socket(t *testing.T, kit *engine.Kit) string {
	t.Helper()
	for _, s := range sockets(kit) {
		if c, err := containerdclient.Dial(t.Context(), s, engine.LookLimit); err == nil {
			_, err = c.Version(t.Context())
			_ = c.Close()
			if err == nil {
				return s
			}
		}
	}
	t.Skip("no containerd answers")
	return ""
}

// TestNamespace: the run's namespace is found by its ledger at the socket where
// it was made, without nerdctl and whatever the environment names, and goes; one
// of the same name without the run's label stays.
func TestNamespace(t *testing.T) {
	kit := enginetest.Kit(t)
	c := newClient(kit, "nerdctl", socket(t, kit))
	ctx := t.Context()
	require.NoError(t, c.begin(ctx, kit))
	if err := c.begin(ctx, kit); err != nil {
		t.Errorf("for the second time: %v", err)
	}
	after := *kit
	after.Getenv = func(string) string { return "" }
	after.LookPath = func(string) (string, error) { return "", os.ErrNotExist }
	removed, kept := engine.Sweep(ctx, &after, New())
	if len(removed) != 1 || len(kept) > 0 {
		t.Errorf("removed %v, kept %v", removed, kept)
	}

	// A user's of that name.
	space := func(f func(*containerdclient.Space) error) error {
		return inSpace(context.Background(), c.socket, c.namespace, kit.RunID, f)
	}
	require.NoError(t, space(func(s *containerdclient.Space) error {
		return s.Client.NamespaceService().Create(namespaces.WithNamespace(ctx, s.Name), s.Name, map[string]string{"a": "user's"})
	}))
	t.Cleanup(func() {
		if err := space(func(s *containerdclient.Space) error {
			return s.Client.NamespaceService().Delete(namespaces.WithNamespace(context.Background(), s.Name), s.Name)
		}); err != nil {
			t.Errorf("the user's namespace: %v", err)
		}
	})
	if err := c.begin(ctx, kit); !errors.Is(err, containerdclient.ErrForeign) {
		t.Errorf("a user's namespace is taken for ours: %v", err)
	}
	if removed, kept := engine.Sweep(ctx, &after, New()); len(removed)+len(kept) > 0 {
		t.Errorf("removed %v, kept %v", removed, kept)
	}
	if err := c.clear(ctx, kit); err != nil { // the control groups, which are not there, are struck out
		t.Error(err)
	}
}

// TestNobodyAnswers: a containerd that is not there is told of, and stays in the
// ledger.
func TestNobodyAnswers(t *testing.T) {
	kit := enginetest.Kit(t)
	thing := (&client{socket: filepath.Join(t.TempDir(), "none.sock")}).thing(namespacePrefix + kit.RunID)
	require.NoError(t, kit.Ledger.Made(thing))
	removed, kept := engine.Sweep(t.Context(), kit, New())
	if len(removed) > 0 || len(kept) != 1 || kept[0].Fix == "" || len(kit.Ledger.Left()) != 1 {
		t.Errorf("removed %v, kept %+v", removed, kept)
	}
	if err := kit.Ledger.Gone(thing); err != nil {
		t.Error(err)
	}
}
