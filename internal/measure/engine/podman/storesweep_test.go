package podman

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/enginetest"
	"plimsoll/internal/measure/probe"
)

// tracesOf are what podman, its runtime and its network may keep for a container outside
// of the run's directory, and for no other.
func tracesOf(t *testing.T, p *program, container string) []string {
	t.Helper()
	all := []string{"crun/" + container, "runc/" + container, filepath.Base(p.store.run)}
	netns, err := p.output(t.Context(), "inspect", "--format", "{{.NetworkSettings.SandboxKey}}", container)
	require.NoError(t, err)
	if name := filepath.Base(strings.TrimSpace(string(netns))); strings.HasPrefix(name, "netns-") {
		all = append(all, "netns/"+name)
	}
	for i, name := range all {
		all[i] = filepath.Join(p.runDir(), name)
	}
	return all
}

// there are those of some files that exist.
func there(files []string) (found []string) {
	for _, f := range files {
		if _, err := os.Lstat(f); err == nil {
			found = append(found, f)
		}
	}
	return found
}

// TestKilledStore: a run was killed while a container of a store of this run ran.
// What podman keeps outside of the run's folder is found by the ledger, also
// where podman itself has forgotten the container, and where an earlier
// clean-up was killed in the midst of it.
func TestKilledStore(t *testing.T) {
	for _, rootless := range []string{"no", "yes"} {
		for what, kill := range map[string]func(t *testing.T, p *program) error{
			"while a container runs": func(*testing.T, *program) error { return nil },
			"and podman has forgotten the container": func(t *testing.T, p *program) error {
				return errors.Join(os.RemoveAll(filepath.Join(p.store.root, "libpod")), os.RemoveAll(filepath.Join(p.store.root, "db.sql")))
			},
			"and a clean-up was, in the midst of the run root": func(t *testing.T, p *program) error {
				if err := p.forget(t.Context()); err != nil {
					return err
				}
				return os.RemoveAll(filepath.Join(p.store.run, "overlay-locks"))
			},
		} {
			t.Run("rootless "+rootless+" "+what, func(t *testing.T) {
				kit := enginetest.Kit(t)
				e := usable(t, kit)
				user, werr := who(kit, rootless)
				if werr != nil {
					t.Skip(werr)
				}
				if _, werr := find(kit, user); werr != nil {
					t.Skip(werr)
				}
				env, err := e.Open(t.Context(), kit, engine.Spec{ID: "killed", Levels: map[string]string{
					engine.Rootless: rootless, engine.Storage: overlay}})
				if err != nil {
					t.Skip(err)
				}
				in := env.(*environment)
				swept := false
				t.Cleanup(func() {
					if !swept { // the test has ended early
						_ = env.Close(context.WithoutCancel(t.Context()))
					}
				})
				args := probe.PayloadArgs{Stay: true}
				task := newTask(&args)
				id, err := in.p.output(t.Context(), in.settings.args("run", task, "--detach")...)
				require.NoError(t, err)
				traces := tracesOf(t, in.p, strings.TrimSpace(string(id)))
				if err := in.Base.Close(t.Context()); err != nil { // the launcher and its cgroup are the run's to sweep
					t.Fatal(err)
				}
				if left := there(traces); len(left) < 2 {
					t.Fatalf("the container has left no traces: %v", left)
				}
				require.NoError(t, kill(t, in.p))
				removed, kept := engine.Sweep(t.Context(), kit, New())
				if err := engine.KeptErrors(kept); err != nil {
					t.Error(err)
				}
				if !slices.ContainsFunc(removed, func(r engine.Thing) bool { return r.Name == in.p.store.run }) {
					t.Errorf("the sweep has removed %v, and not %s", removed, in.p.store.run)
				}
				require.NoError(t, e.dropGroup(t.Context(), kit)) // the run's sweep does it without the engine
				for _, f := range there(traces) {
					t.Errorf("left behind: %s", f)
				}
				if len(in.p.monitor(task.Name).Find()) > 0 {
					t.Error("its monitor still runs")
				}
				swept = len(kept) == 0
			})
		}
	}
}

// TestStoreOf: only a directory whose name is made of the run's own id, driver
// and user is a store of ours.
func TestStoreOf(t *testing.T) {
	kit := &engine.Kit{RunID: "abcd1234", Dir: "/var/lib/plimsoll/runs/abcd1234", LookPath: func(name string) (string, error) { return "/bin/" + name, nil }}
	p := &program{path: "podman"}
	for dir, ok := range map[string]bool{
		"/run/plimsoll-abcd1234-o":                            true,
		"/run/plimsoll-abcd1234-v":                            true,
		"/var/lib/plimsoll/runs/abcd1234/podman-overlay-root": true,
		"/run/plimsoll-abcd1234-x":                            false,
		"/run/plimsoll-ffffffff-o":                            false,
		"/run":                                                false,
		"/run/plimsoll-abcd1234-o/..":                         false,
		"/var/lib/plimsoll/runs/abcd1234":                     false,
	} {
		q, err := p.storeOf(kit, dir)
		if (err == nil) != ok {
			t.Errorf("%s: %v, want a store %v", dir, err, ok)
		}
		if ok && (q.store.run == "" || !slices.Contains(q.global, q.store.run) || slices.Contains(p.global, q.store.run)) {
			t.Errorf("%s: podman is told %v", dir, q.global)
		}
	}
	thing := engine.Thing{Kind: engine.KindFile, Name: filepath.Join(t.TempDir(), "never made"), Engine: "podman"}
	if l := p.leftStore(kit, thing); l != nil {
		t.Errorf("what was never made is left: %v", l)
	}
	thing.Name = t.TempDir()
	if l := p.leftStore(kit, thing); l == nil || l.Problem == nil {
		t.Errorf("a directory that is no store of ours: %v, want a problem", l)
	}
	if _, err := os.Lstat(thing.Name); errors.Is(err, fs.ErrNotExist) {
		t.Error("it was removed")
	}
}

// TestStoreByALink: a run that named the runtime directory by a link has left a store in the
// one that is named without, and the other way about.
func TestStoreByALink(t *testing.T) {
	kit := &engine.Kit{RunID: "abcd1234", Dir: "/var/lib/plimsoll/runs/abcd1234"}
	there, link := t.TempDir(), filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(there, link))
	for _, c := range []struct {
		now, then string
		ok        bool
	}{{there, link, true}, {link, there, true}, {there, t.TempDir(), false}} {
		p := &program{path: "podman", user: &engine.User{Name: "plimsoll", RuntimeDir: c.now}}
		q, err := p.storeOf(kit, filepath.Join(c.then, "plimsoll-abcd1234-o"))
		if (err == nil) != c.ok {
			t.Errorf("%s, and now %s: %v", c.then, c.now, err)
		}
		if want := filepath.Join(c.now, "plimsoll-abcd1234-o"); c.ok && (q == nil || q.store.run != want) {
			t.Errorf("%s, and now %s: the store is %+v", c.then, c.now, q)
		}
	}
}

// TestBundles: what a runtime's state and a specification tell.
func TestBundles(t *testing.T) {
	const root = "/var/lib/plimsoll/runs/abcd1234/podman-overlay-root/root/"
	for state, ours := range map[string]bool{
		`{"pid":1,"bundle":"` + root + `overlay-containers/x/userdata"}`:                     true,
		`{ "bundle" : "` + root + `overlay-containers/x/userdata" }`:                         true,
		`{"config":{"labels":["bundle=` + root + `overlay-containers/x/userdata"]}}`:         true,
		`{"bundle":"/home/u/root/overlay-containers/x","rootfs":"` + root + `merged"}`:       false,
		`{"bundle":"/var/lib/plimsoll/runs/abcd1234/podman-overlay-root/rooted/containers"}`: false,
	} {
		if got := tellsBundle(state, root); got != ours {
			t.Errorf("%s: %v, want %v", state, got, ours)
		}
	}
	const spec = `{"linux":{"namespaces":[{"type":"pid"},{"type":"network","path":"/run/netns/netns-1"},{"type":"mount"}]}}`
	if got := namespaceOf([]byte(spec)); got != "/run/netns/netns-1" {
		t.Errorf("the network namespace is %q", got)
	}
	for name, ok := range map[string]bool{"netns-01234567-89ab-cdef-0123-456789abcdef": true, "cni-01234567-89ab-cdef-0123-456789abcdef": true,
		"mine": false, "netns-1": false, "rootless-netns-0123": false} {
		if netnsName.MatchString(name) != ok {
			t.Errorf("%s is podman's: %v, want %v", name, !ok, ok)
		}
	}
}
