package lxd

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/enginetest"
	"plimsoll/internal/measure/engine/kittest"
)

// elsewhere is the kit of a clean-up that comes later: the environment names
// another daemon by then, and the program is gone.
func elsewhere(kit *engine.Kit) *engine.Kit {
	k := *kit
	k.Getenv = func(name string) string {
		if strings.HasSuffix(name, "_SOCKET") || strings.HasSuffix(name, "_DIR") {
			return "/no/such/place"
		}
		return ""
	}
	k.LookPath = func(string) (string, error) { return "", errors.New("not on the PATH") }
	return &k
}

// TestLeftovers: what a killed run has left is removed from the ledger alone, at
// the socket that this names, and what somebody else has put beside it stays.
func TestLeftovers(t *testing.T) {
	for name, make := range both {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kit, e := enginetest.Kit(t), make()
			usable(t, e, kit)
			env := open(t, e, kit, map[string]string{engine.Network: "none", engine.Storage: "btrfs"})
			ours, theirs, unknown := adapter.Name(kit.RunID, "left"), adapter.Name(kit.RunID, "theirs"), adapter.Name(kit.RunID, "unknown")
			for _, n := range []string{ours, theirs} {
				require.NoError(t, kit.Ledger.Made(env.d.thing(engine.KindContainer, n)))
			}
			create(t, env, ours, env.d.label())
			create(t, env, theirs, nil)
			create(t, env, unknown, map[string]string{labelKey: "other"})

			removed, kept := engine.Sweep(t.Context(), elsewhere(kit), e)
			t.Logf("removed %v, kept %v", removed, kept)
			if !slices.Contains(removed, env.d.thing(engine.KindContainer, ours)) && !vanished(t, env, ours) {
				t.Error("the container of the ledger is still there")
			}
			for _, n := range []string{theirs, unknown} {
				if vanished(t, env, n) {
					t.Errorf("the container %s, which does not bear the run's label, was removed", n)
				}
			}
			i := slices.IndexFunc(kept, func(k engine.Kept) bool { return k.Kind == engine.KindProject })
			if i < 0 || !strings.Contains(kept[i].Why, theirs) || kept[i].Fix == "" {
				t.Errorf("kept are %v; the project is to be, with what is in it", kept)
			}
			i = slices.IndexFunc(kept, func(k engine.Kept) bool { return k.Kind == engine.KindPool })
			if i < 0 || !strings.Contains(kept[i].Why, theirs) {
				t.Errorf("kept are %v; the pool is to be, with who uses it", kept)
			}
			discard(t, env, theirs)
			discard(t, env, unknown)
			if _, kept := engine.Sweep(t.Context(), elsewhere(kit), e); len(kept) > 0 {
				t.Errorf("kept: %v", kept)
			}
			if left, err := e.Bearing(t.Context(), kit, kit.RunID); err != nil || len(left) > 0 {
				t.Errorf("still there: %v, %v", left, err)
			}
			if left := engine.Of(kit.Ledger.Left(), name); len(left) > 0 {
				t.Errorf("in the ledger still: %v", left)
			}
		})
	}
}

func vanished(t *testing.T, env *environment, name string) bool {
	t.Helper()
	err := env.d.get(t.Context(), "/1.0/instances/"+name, &labelled{})
	if err != nil && !notFound(err) {
		t.Fatal(err)
	}
	return err != nil
}

// TestNotOurs: a project and a pool of a user's that have just our names stay,
// though the ledger names them.
func TestNotOurs(t *testing.T) {
	for name, make := range both {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kit, e := enginetest.Kit(t), make()
			usable(t, e, kit)
			d, _, cerr := e.connect(t.Context(), kit)
			if cerr != nil {
				t.Fatal(cerr)
			}
			t.Cleanup(d.close)
			project, pool := projectName(kit.RunID), projectName(kit.RunID)+"-dir"
			mine := map[string]string{labelKey: "mine"}
			for at, body := range map[string]map[string]any{
				"/1.0/projects":      {"name": project, "config": mine},
				"/1.0/storage-pools": {"name": pool, "driver": "dir", "config": mine},
			} {
				require.NoError(t, d.call(t.Context(), http.MethodPost, at, body))
				path := at + "/" + body["name"].(string)
				t.Cleanup(func() {
					if err := d.call(context.Background(), http.MethodDelete, path, nil); err != nil {
						t.Errorf("what was to stay: %v", err)
					}
				})
			}
			for kind, n := range map[string]string{engine.KindProject: project, engine.KindPool: pool} {
				require.NoError(t, kit.Ledger.Made(d.thing(kind, n)))
			}
			if removed, kept := engine.Sweep(t.Context(), kit, e); len(removed)+len(kept) > 0 {
				t.Errorf("removed %v, kept %v", removed, kept)
			}
			// An environment can't be opened over it, and does not clear it away either.
			if _, err := e.Open(t.Context(), kit, engine.Spec{ID: "x"}); err == nil {
				t.Error("a project of a user's was taken over")
			}
		})
	}
}

// pretend is a daemon that answers by what is listed, or by what that gives (nil:
// not there), and that says what it was told to delete.
func pretend(t *testing.T, answers map[string]any) (*daemon, *[]string) {
	t.Helper()
	deleted := new([]string)
	socket := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", socket)
	require.NoError(t, err)
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodDelete {
			*deleted = append(*deleted, r.URL.Path)
		}
		a, ok := answers[r.URL.Path]
		if f, is := a.(func() any); is {
			a = f()
			ok = a != nil
		}
		text := map[string]any{"type": "sync", "metadata": a}
		if !ok {
			text = map[string]any{"type": "error", "error_code": http.StatusNotFound, "error": "not found"}
		}
		_ = json.NewEncoder(w).Encode(text)
	})}
	go func() { _ = s.Serve(l) }()
	t.Cleanup(func() { _ = s.Close() })
	d := New().dial(socket)
	d.run = "abcd1234"
	t.Cleanup(d.close)
	return d, deleted
}

// TestChoosePool: a pool is a user's by its label, and not by its name.
func TestChoosePool(t *testing.T) {
	d, _ := pretend(t, map[string]any{"/1.0/storage-pools": []map[string]any{
		{"name": "fast", "driver": "btrfs", "config": map[string]string{labelKey: "efgh5678"}},
		{"name": "plimsoll-x", "driver": "btrfs"},
	}})
	p, ours, err := d.choosePool(t.Context(), "btrfs", d.run, profile{})
	if err != nil || ours || p.Name != "plimsoll-x" {
		t.Errorf("chosen is %+v, ours %v, %v; want the user's plimsoll-x, and not another run's", p, ours, err)
	}
	if p, ours, err = d.choosePool(t.Context(), "dir", d.run, profile{}); err != nil || !ours || p.Config[labelKey] != d.run {
		t.Errorf("chosen is %+v, ours %v, %v; want a new one of ours", p, ours, err)
	}
}

// TestListingTriedAgain: a listing fails while a pool of somebody's goes, by the
// answer that a path has which is not there.
func TestListingTriedAgain(t *testing.T) {
	answers := map[string]any{}
	d, _ := pretend(t, answers)
	asked := 0
	answers["/1.0/storage-pools"] = func() any {
		if asked++; asked < 3 {
			return nil
		}
		return []map[string]any{{"name": "fast", "driver": "btrfs"}}
	}
	list, err := d.list(t.Context(), "/1.0/storage-pools")
	if err != nil || len(list) != 1 || asked != 3 {
		t.Errorf("asked %d times: %v, %v; want the pool at the third", asked, list, err)
	}
	if _, err := d.list(t.Context(), "/1.0/projects"); !notFound(err) {
		t.Errorf("what is never there: %v, want that it is not found", err)
	}
}

// TestUnreachable: what can't be asked is told with what helps, and stays.
func TestUnreachable(t *testing.T) {
	kit := &engine.Kit{RunID: "abcd1234", Ledger: &kittest.Ledger{}}
	dead := engine.Thing{Kind: engine.KindProject, Name: "plimsoll-abcd1234", Engine: "lxd", At: filepath.Join(t.TempDir(), "unix.socket")}
	require.NoError(t, kit.Ledger.Made(dead))
	_, kept := engine.Sweep(t.Context(), kit, New())
	if len(kept) != 1 || kept[0].Fix != "systemctl start lxd" || !strings.Contains(kept[0].Why, dead.At) {
		t.Errorf("kept: %+v", kept)
	}
	if left := kit.Ledger.Left(); !slices.Equal(left, []engine.Thing{dead}) {
		t.Errorf("the ledger has %v", left)
	}
}

// TestImageOfOthers: of an image that a user has given a name too, only our name
// is taken away; another run's stays whole.
func TestImageOfOthers(t *testing.T) {
	for _, c := range []struct {
		run     string
		aliases []map[string]string
		want    []string
	}{
		{"abcd1234", []map[string]string{{"name": "payload"}}, []string{"/1.0/images/f00"}},
		{"abcd1234", []map[string]string{{"name": "payload"}, {"name": "mine"}}, []string{"/1.0/images/aliases/payload"}},
		{"efgh5678", []map[string]string{{"name": "payload"}}, nil},
	} {
		d, deleted := pretend(t, map[string]any{
			"/1.0/images/aliases/payload": map[string]string{"target": "f00"},
			"/1.0/images/f00":             map[string]any{"fingerprint": "f00", "aliases": c.aliases, "properties": map[string]string{labelKey: c.run}},
		})
		if err := d.removeImage(t.Context(), "payload"); err != nil || !slices.Equal(*deleted, c.want) {
			t.Errorf("of the run %s with the names %v: deleted %v, %v; want %v", c.run, c.aliases, *deleted, err, c.want)
		}
	}
}
