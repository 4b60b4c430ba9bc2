//go:build !unit

package features

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/catalogue"
	"plimsoll/internal/measure/engine/enginetest"
	"plimsoll/internal/measure/run"
	"plimsoll/internal/record"
)

// quick are rows that take little, of every group.
var quick = []string{"archives", "sif", "detached", "dynamic-resources", "vpn", "user-namespaces", "seccomp-default"}

// Every engine that is here is tried; the table is whole, each cell has its
// evidence, the same again comes out the same, and nothing is left.
func TestEnginesTwice(t *testing.T) {
	first := try1(t, Options{Features: quick})
	if !first.Tried() {
		t.Skip("none of the engines is here: lab/setup test installs them")
	}
	tried := 0
	for _, r := range first.Rows {
		for _, e := range first.Engines {
			c := r.Cells[e.Name]
			switch {
			case c.Why == "" && c.Value != record.FeatureYes:
				t.Errorf("%s of %s is %q and does not say why", r.ID, e.Name, c.Value)
			case c.Value != record.FeatureUntried && len(c.Evidence) == 0:
				t.Errorf("%s of %s is %q without evidence", r.ID, e.Name, c.Value)
			case c.Value != record.FeatureUntried:
				tried++
			}
		}
	}
	if here := len(first.Engines) - missing(first); tried < here*len(quick)/2 {
		t.Errorf("of %d engines with %d rows only %d cells could be told", here, len(quick), tried)
	}
	second := try1(t, Options{Features: quick})
	for _, r := range first.Rows {
		for name, c := range r.Cells {
			if again := second.Cell(r.ID, name); again.Value != c.Value {
				t.Errorf("%s of %s: first %s (%s), then %s (%s)", r.ID, name, c.Value, c.Why, again.Value, again.Why)
			}
		}
	}
}

func missing(f *record.Features) int {
	n := 0
	for _, e := range f.Engines {
		if e.Missing != "" {
			n++
		}
	}
	return n
}

// try1 fills a table on a kit of the test's own, and demands that the attempts
// took everything away by themselves.
func try1(t *testing.T, o Options) *record.Features {
	t.Helper()
	enginetest.Real(t)
	if o.Kit == nil {
		o.Kit = enginetest.Kit(t)
	}
	o.All = catalogue.All()
	got := fill(t, o)
	for _, e := range got.Engines {
		if b, ok := byName(t, e.Name).(engine.Bearer); ok && e.Missing == "" {
			left, err := b.Bearing(context.Background(), o.Kit, o.Kit.RunID)
			if err != nil {
				t.Errorf("%s: %v", e.Name, err)
			}
			for _, l := range left {
				t.Errorf("%s was left with %s", e.Name, l)
			}
		}
	}
	swept, err := run.SweepAll(context.Background(), o.Kit, o.All)
	if err != nil || len(swept) > 0 {
		t.Errorf("left behind: %q, %v", swept, err)
	}
	return got
}

func fill(t *testing.T, o Options) *record.Features {
	t.Helper()
	got, err := Run(t.Context(), o)
	require.NoError(t, err)
	return got
}

// byName is an engine of the catalogue.
func byName(t *testing.T, name string) engine.Engine {
	t.Helper()
	all := catalogue.All()
	i := slices.IndexFunc(all, func(e engine.Engine) bool { return e.Info().Name == name })
	if i < 0 {
		t.Fatalf("there is no engine %s", name)
	}
	return all[i]
}

// engineHere skips where the engine is not on this machine.
func engineHere(t *testing.T, name string) *engine.Kit {
	t.Helper()
	kit := enginetest.Kit(t)
	if d := byName(t, name).Detect(t.Context(), kit); !d.Usable {
		t.Skipf("%s is not here: %s", name, d.Reason)
	}
	return kit
}

// What needs a registry is tried with one on loopback, on every engine here that
// pulls from such: nobody's daemon is told of it, and no cell stays untried.
func TestRegistryOnLoopback(t *testing.T) {
	rows := []string{"registries", "layered-images", "pull-cache", "lazy-pulling"}
	got := try1(t, Options{Features: rows, Engines: []string{"docker", "podman", "containerd", "charliecloud", "apptainer"}})
	tried := 0
	for _, e := range got.Engines {
		for _, id := range rows {
			c := got.Cell(id, e.Name)
			switch {
			case e.Missing != "":
			case id == "pull-cache" && c.Value == record.FeatureUntried: // the kernel's choice, now and then
			case c.Value == record.FeatureUntried || len(c.Evidence) == 0:
				t.Errorf("%s of %s with a registry on loopback: %s (%s), %d lines of evidence", id, e.Name, c.Value, c.Why, len(c.Evidence))
			default:
				tried++
			}
		}
	}
	if tried == 0 {
		t.Skip("none of the engines that pull from registries is here: lab/setup test installs them")
	}
}

// Without a registry nothing can be pulled, and nothing else changes.
func TestRegistryDown(t *testing.T) {
	kit := engineHere(t, "podman")
	got := try1(t, Options{Kit: kit, Engines: []string{"podman"}, Features: []string{"registries", "layered-images", "archives"},
		spoil: func(b *bench) { b.registry.addr = "127.0.0.1:1" }})
	for _, id := range []string{"registries", "layered-images"} {
		if c := got.Cell(id, "podman"); c.Value != record.FeatureUntried {
			t.Errorf("%s without a registry: %s (%s)", id, c.Value, c.Why)
		}
	}
	if c := got.Cell("archives", "podman"); c.Value != record.FeatureYes {
		t.Errorf("archives without a registry: %s (%s)", c.Value, c.Why)
	}
}

// A policy that accepts everything accepts a tampered image: that is a no.
func TestTamperedImageAccepted(t *testing.T) {
	kit := engineHere(t, "podman")
	for _, c := range []struct {
		policy string
		want   record.FeatureValue
	}{{signedOnly, record.FeatureYes}, {`{"default": [{"type": "insecureAcceptAnything"}]}`, record.FeatureNo}} {
		got := try1(t, Options{Kit: kit, Engines: []string{"podman"}, Features: []string{"signed-images"},
			spoil: func(b *bench) { b.policy = c.policy }})
		if cell := got.Cell("signed-images", "podman"); cell.Value != c.want {
			t.Errorf("with the policy %s: %s (%s), want %s", c.policy, cell.Value, cell.Why, c.want)
		}
	}
}

// So is an apptainer whose verify says yes to everything.
func TestBrokenVerify(t *testing.T) {
	kit := engineHere(t, "apptainer")
	got := try1(t, Options{Kit: kit, Engines: []string{"apptainer"}, Features: []string{"signed-images", "archives"},
		spoil: func(b *bench) {
			script := filepath.Join(kit.Dir, "apptainer")
			text := "#!/bin/sh\n[ \"$1\" = verify ] && exit 0\nexec " + b.where + " \"$@\"\n"
			if err := os.WriteFile(script, []byte(text), 0o755); err != nil {
				t.Error(err)
			}
			b.where = script
			apptainer(b)
		}})
	if c := got.Cell("signed-images", "apptainer"); c.Value != record.FeatureNo {
		t.Errorf("a verify that always accepts: %s (%s)", c.Value, c.Why)
	}
	if c := got.Cell("archives", "apptainer"); c.Value != record.FeatureYes {
		t.Errorf("archives: %s (%s)", c.Value, c.Why)
	}
}

// A rootless daemon that has ended leaves its socket: the row is untried, and
// nothing is in the ledger for a daemon to take out again.
func TestRootlessDaemonEnded(t *testing.T) {
	kit := engineHere(t, "docker")
	if kit.User == nil {
		t.Skipf("there is no ordinary user: %s", kit.NoUser)
	}
	user := *kit.User
	user.RuntimeDir = t.TempDir()
	kit.User = &user
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(user.RuntimeDir, "docker.sock")})
	require.NoError(t, err)
	l.SetUnlinkOnClose(false)
	require.NoError(t, l.Close())
	got := try1(t, Options{Kit: kit, Engines: []string{"docker"}, Features: []string{"rootless"}})
	if c := got.Cell("rootless", "docker"); c.Value != record.FeatureUntried || !strings.Contains(c.Why, "no Docker daemon answers at "+user.RuntimeDir) {
		t.Errorf("%s (%s)", c.Value, c.Why)
	}
}

// A daemon that does not answer makes all of its engine's rows untried; one
// that ends in between too, and never a no.
func TestDaemonStopped(t *testing.T) {
	kit := engineHere(t, "docker")
	getenv := kit.Getenv
	kit.Getenv = func(name string) string {
		if name == "DOCKER_HOST" {
			return "unix://" + filepath.Join(kit.Dir, "nothing.sock")
		}
		return getenv(name)
	}
	got := try1(t, Options{Kit: kit, Engines: []string{"docker"}})
	for _, r := range got.Rows {
		if c := r.Cells["docker"]; c.Value != record.FeatureUntried || c.Why == "" {
			t.Errorf("%s without a daemon: %s (%s)", r.ID, c.Value, c.Why)
		}
	}
	kit.Getenv = getenv
	rows := []string{"archives", "dockerfile", "registries", "sif", "detached", "gpus", "seccomp-default", "read-only-root", "stats"}
	socket := filepath.Join(kit.Dir, "nothing.sock")
	got = fill(t, Options{Kit: kit, All: catalogue.All(), Engines: []string{"docker"}, Features: rows,
		spoil: func(b *bench) {
			b.where = socket
			docker(b)
		}})
	// What was asked for there may be there: it is told, and stays in the ledger.
	removed, kept, err := run.Sweep(t.Context(), kit, catalogue.All())
	if len(removed) > 0 || len(kept) == 0 || err != nil {
		t.Errorf("of a daemon that has ended: removed %v, kept %v, %v", removed, kept, err)
	}
	for _, k := range kept {
		if k.At != "unix://"+socket || k.Fix == "" {
			t.Errorf("kept: %+v", k)
		}
		if err := kit.Ledger.Gone(k.Thing); err != nil { // it never was
			t.Error(err)
		}
	}
	for _, r := range got.Rows {
		if c := r.Cells["docker"]; c.Value != record.FeatureUntried {
			t.Errorf("%s of a daemon that has ended: %s (%s)", r.ID, c.Value, c.Why)
		}
	}
}
