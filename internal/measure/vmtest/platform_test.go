//go:build !unit

package vmtest

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/common/tested"
	"plimsoll/internal/measure/engine"
)

// TestPlatform drives Plimsoll on one of today's distributions as its users do: as root, as
// an ordinary user, by sudo, with systemd and control groups of version 2. Whatever it does,
// the machine is afterwards as it was before. PLIMSOLL_PLATFORM names the platform;
// PLIMSOLL_PLATFORM_OUT keeps what came back. With PLIMSOLL_PLATFORM_DEEP it tries
// selftest, features, ablate, the study quick and the conformance suite there, too.
func TestPlatform(t *testing.T) {
	if testing.Short() {
		t.Skip("boots a virtual machine")
	}
	name := os.Getenv("PLIMSOLL_PLATFORM")
	if name == "" {
		t.Skip("takes ten minutes, and builds a disk of a gigabyte: make test-platforms boots it")
	}
	if strings.HasSuffix(name, "-uml") {
		judgeQuick(drive(t, name, t.TempDir(), "1200", []string{"quick.sh", "quick.yaml", "killed.yaml"}, "LEVEL=quick"))
		return
	}
	in, deep := t.TempDir(), os.Getenv("PLIMSOLL_PLATFORM_DEEP")
	kills, _ := strconv.Atoi(os.Getenv("PLIMSOLL_PLATFORM_KILLS")) // without a number: what platform.sh takes
	limit := 3000 + 60*kills
	if deep != "" {
		limit += 9000
		for _, e := range conforming {
			path := filepath.Join(in, e.name+".test")
			cmd := exec.Command("go", "test", "-c", "-trimpath", "-o", path, "../engine/"+e.name)
			cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
			if said, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, said)
			}
		}
	}
	files := []string{"platform.yaml", "private.yaml", "density.yaml", "killed.yaml", "forbidden.yaml", "walled.yaml", "fetch.yaml"}
	out := drive(t, name, in, strconv.Itoa(limit), files, "KILLS="+os.Getenv("PLIMSOLL_PLATFORM_KILLS"), "DEEP="+deep)
	judgePlatform(out)
	if deep != "" {
		judgeDeep(out)
	}
}

// drive boots a platform with the program, files of testdata and what in has already, and
// runs platform.sh there with some variables, for at most limit seconds.
func drive(t *testing.T, name, in, limit string, files []string, vars ...string) results {
	t.Helper()
	dir := os.Getenv("PLIMSOLL_PLATFORM_OUT")
	if dir == "" {
		dir = t.TempDir()
	}
	program, err := compile("./cmd/plimsoll")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(in, "plimsoll"), program, 0o755)) //nolint:gosec // a program
	for _, f := range append(files, "platform.sh") {
		text, err := os.ReadFile(filepath.Join("testdata", f))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(in, f), text, 0o644)) //nolint:gosec // for another user
	}
	args := append([]string{"run", name, "--in", in, "--out", dir, "--limit", limit, "--", "env"}, vars...)
	said, err := exec.Command("../../../lab/platform", append(args, "sh", "platform.sh")...).CombinedOutput()
	t.Logf("%s", said)
	require.NoError(t, err)
	return results{t, dir}
}

// listedEngine is an engine as `plimsoll engines --format json` lists it.
type listedEngine struct {
	Name, Reason, Fix string
	Usable            bool
	Facts             map[string]string
	Levels            map[string][]engine.Level
}

// engines returns what `plimsoll engines` has listed.
func (r results) engines(name string) (engines []listedEngine) {
	require.NoError(r.t, json.Unmarshal([]byte(r.text(name+".out")), &engines))
	return engines
}

// judgePlatform judges what a platform left.
func judgePlatform(out results) {
	t := out.t
	host := out.doctor("doctor", "v2")
	t.Logf("%s %s, %s", host.OS, host.Kernel, host.CPU)
	// Who looks starts nothing.
	if got := strings.Fields(out.text("idle")); !slices.Equal(got, []string{"inactive", "inactive"}) {
		t.Errorf("after `plimsoll engines` LXD and Incus are %q", got)
	}
	for _, e := range out.engines("engines") {
		if e.Name == "containerd" && e.Facts["cgroup-driver"] != "cgroupfs" {
			t.Errorf("containerd's facts are %v", e.Facts)
		}
		if (e.Name == "lxd" || e.Name == "incus") && (e.Usable || !strings.Contains(e.Reason, "socket-activated") && !strings.Contains(e.Reason, "not installed")) {
			t.Errorf("%s: usable %v, %q", e.Name, e.Usable, e.Reason)
		}
	}
	byUs := []string{"host", "floor", "bubblewrap", "charliecloud"}
	inside := map[string]string{"limit.memory.max": memoryAsked, "limit.cpu.max": cpuMaxAsked}

	out.ended("root", "0")
	root := out.record("root-record")
	for _, id := range append([]string{"native", "nspawn"}, byUs...) {
		root.limited(t, id, "cgroup-of-ours", root.facts[id]["cgroup"], nil)
	}
	for _, id := range []string{"docker/api", "docker/cli/network-none", "podman/rootful", "containerd", "oci/runc", "oci/crun", "lxc"} {
		root.limited(t, id, "engine", "v2", nil)
	}
	for _, id := range []string{"docker/api", "podman/rootful"} {
		root.limited(t, id, "engine", "v2", inside)
		if d := root.facts[id]["cgroup-driver"]; d != "systemd" {
			t.Errorf("%s: the cgroup driver is said to be %q", id, d)
		}
		for _, in := range root.insides[id] {
			if !strings.HasSuffix(in.More["label"], "(enforce)") {
				t.Errorf("%s: inside, AppArmor's label is %q", id, in.More["label"])
			}
		}
	}

	if path := os.Getenv("PLIMSOLL_TESTED"); path != "" {
		at := tested.Place{Platform: root.Host.OS, Kernel: root.Host.Kernel, Cgroup: root.Host.Cgroup, Init: "systemd"}
		for _, e := range root.Environments {
			if e.Baseline == "" && root.trials[e.ID] > 0 && !t.Failed() {
				require.NoError(t, tested.Note(path, tested.From(e.Engine, e.Facts, at, "platform", root.Started.UTC().Format(time.DateOnly))...))
			}
		}
	}

	out.ended("private", "0")
	private := out.record("private-record")
	for _, id := range []string{"docker/vfs", "docker/rootless", "containerd", "podman"} {
		found := false
		for env, n := range private.trials {
			found = found || n > 0 && strings.HasPrefix(env, id)
		}
		if !found {
			t.Errorf("nothing of %s was measured: %v", id, private.left)
		}
	}
	out.ended("density", "0")
	out.record("density-record")

	for _, e := range out.engines("alice-engines") {
		if e.Name == "podman" && e.Facts["cgroup"] != "v2" {
			t.Errorf("for an ordinary user Podman's facts are %v", e.Facts)
		}
	}
	out.ended("alice", "0")
	alice := out.record("alice-record")
	for _, id := range byUs {
		alice.limited(t, id, "cgroup-of-ours", alice.facts[id]["cgroup"], nil)
	}
	alice.limited(t, "podman/rootless", "engine", "v2", inside)
	out.ended("sudo", "0")
	out.record("sudo-record").limited(t, "podman/rootless", "engine", "v2", nil)
	out.ended("explain", "0")

	for _, setting := range []string{"unprivileged_userns_clone", "max_user_namespaces"} {
		out.forbidden(setting)
	}
	out.ended("firewall", "0")
	out.ended("walled", "0")
	walled := out.record("walled-record")
	// Podman's bridge is the user's: its containers don't reach each other behind ufw, and the plan says so.
	if why := walled.left["podman/bridge/rootful"]; !strings.Contains(why, "ufw") {
		t.Errorf("behind a firewall, of Podman's network is said %q", why)
	}
	for id, want := range map[string]int{"docker/cli": 2, "podman/bridge/rootful": 1, "containerd/bridge": 1} {
		if walled.trials[id] != want {
			t.Errorf("behind a firewall %s has %d trials, want %d: %v", id, walled.trials[id], want, walled.left)
		}
	}

	out.unchanged(8)
}

// unchanged demands that the state was looked at so many times at least, that it was always as it was
// before (with a firewall: since that is on), and that each clean has succeeded.
func (r results) unchanged(looks int) {
	t := r.t
	states, err := filepath.Glob(filepath.Join(r.dir, "state-*"))
	require.NoError(t, err)
	if len(states) < looks {
		t.Errorf("the state was looked at %d times only", len(states))
	}
	for _, path := range states {
		first := "state-before"
		if strings.HasPrefix(filepath.Base(path), "state-walled") {
			first = "state-walled-before"
		}
		for _, line := range difference(strings.Split(r.text(first), "\n"), strings.Split(r.text(filepath.Base(path)), "\n")) {
			t.Errorf("%s: %s", filepath.Base(path), line)
		}
	}
	cleaned, err := filepath.Glob(filepath.Join(r.dir, "clean*.status"))
	require.NoError(t, err)
	for _, path := range cleaned {
		r.ended(strings.TrimSuffix(filepath.Base(path), ".status"), "0")
	}
}

// difference lists the lines of one sorted text that are not in the other.
func difference(before, after []string) (changed []string) {
	for _, side := range []struct {
		mark        string
		from, other []string
	}{{"- ", before, after}, {"+ ", after, before}} {
		for _, line := range side.from {
			if line != "" && !slices.Contains(side.other, line) {
				changed = append(changed, side.mark+line)
			}
		}
	}
	return changed
}

// forbidden judges what was said and measured where a setting forbids user namespaces.
func (r results) forbidden(setting string) {
	t, name := r.t, "forbidden-"+setting
	r.ended(name+"-set", "0")
	named := func(what, reason, fix string) {
		if !strings.Contains(reason, setting+" is 0") || !strings.Contains(fix, "sysctl ") {
			t.Errorf("%s: of %s is said %q, try %q", name, what, reason, fix)
		}
	}
	for _, e := range r.engines(name + "-engines") {
		if e.Name == "charliecloud" {
			named("charliecloud for root", e.Reason, e.Fix)
		}
		for _, l := range e.Levels[engine.Rootless] {
			if l.Name == "yes" && slices.Contains([]string{"docker", "podman", "bubblewrap", "charliecloud"}, e.Name) {
				named(e.Name+" rootless", l.Reason, l.Fix)
			}
		}
	}
	for _, e := range r.engines(name + "-alice-engines") {
		if slices.Contains([]string{"floor", "podman", "bubblewrap", "charliecloud"}, e.Name) {
			named("alice's "+e.Name, e.Reason, e.Fix)
		}
	}
	r.ended(name+"-root", "0")
	root := r.record(name + "-root-record")
	for id, trials := range root.trials {
		if strings.Contains(id, "rootless") || trials == 0 {
			t.Errorf("%s: %s has %d trials", name, id, trials)
		}
	}
	for _, id := range []string{"podman/rootful", "bubblewrap/rootful"} {
		if root.trials[id] == 0 {
			t.Errorf("%s: nothing of %s was measured: %v", name, id, root.left)
		}
	}
}

// conforming are the engines whose conformance suite runs on a platform.
var conforming = []struct{ name, test string }{
	{"oci", "TestCrun"}, {"docker", "TestConformance/api"}, {"podman", "TestConformance/rootful"}, {"containerd", "TestConformance/runc"},
}

// judgeDeep judges what takes longer.
func judgeDeep(out results) {
	t := out.t
	for _, name := range []string{"explain-docker", "explain-podman", "features", "ablate", "quick", "quick-alice"} {
		out.ended(name, "0")
	}
	out.ended("selftest", "0", "4") // emulated, times scatter
	for _, name := range []string{"ablate-record", "quick-record", "quick-alice-record"} {
		out.record(name)
	}
	for _, e := range conforming {
		out.ended("conformance-"+e.name, "0")
		if !strings.Contains(out.text("conformance-"+e.name+".out"), "--- PASS: "+e.test+" ") {
			t.Errorf("nothing of %s's conformance suite has run", e.name)
		}
	}
}
