//go:build !unit

package vmtest

import (
	"encoding/json"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
)

// Version 2, which most users have: recognised, limits set by us, by runtimes
// and by engines and read back inside, nothing left in the tree, as root
// without a manager.
func TestVersion2(t *testing.T) {
	t.Parallel()
	r := machine(t, "v2", "study")
	r.build("./internal/measure/engine/cgroup.test", "/tests/cgroup.test")
	have := map[string]bool{}
	for _, p := range []string{"runc", "crun", "podman", "conmon", "dockerd", "docker", "containerd", "containerd-shim-runc-v2"} {
		have[p] = r.program(p)
	}
	if !have["runc"] || !have["crun"] {
		t.Skip("runc and crun are not installed: lab/setup test installs them")
	}
	r.text("/etc/containers/containers.conf", "[containers]\n")
	r.text("/etc/containers/policy.json", `{"default":[{"type":"insecureAcceptAnything"}]}`)
	out := results{t, boot(t, r.disk(), "cgroup_no_v1=all")}

	host := out.doctor("doctor", "v2")
	for _, c := range []string{"cpu", "memory", "pids"} {
		if !strings.Contains(" "+host.More["cgroup_controllers_v2"]+" ", " "+c+" ") {
			t.Errorf("the controllers of version 2 are said to be %q, without %s", host.More["cgroup_controllers_v2"], c)
		}
	}
	out.ended("cgroup", "0")
	for _, test := range []string{"TestRealGroup", "TestInForceInAChildGroup", "TestOOMInAChildGroup"} {
		if !strings.Contains(out.text("cgroup.out"), "--- PASS: "+test) {
			t.Errorf("cgroup's own %s did not run:\n%s", test, out.text("cgroup.out"))
		}
	}

	out.ended("run", "0")
	m := out.record("record")
	if m.Host.Cgroup != "v2" {
		t.Errorf("the record says that the machine has %q", m.Host.Cgroup)
	}
	inside := map[string]string{"limit.memory.max": memoryAsked, "limit.cpu.max": cpuMaxAsked}
	m.limited(t, "host", "cgroup-of-ours", "v2", inside)
	// Inside there is no /sys to read in: what is in force is read in the groups
	// above, by the path that the payload tells; with a cgroup namespace it
	// tells none, and that a process in such a group is limited is what cgroup's
	// tests have shown.
	m.limited(t, "native", "cgroup-of-ours", "v2", inside)
	m.limited(t, "floor", "cgroup-of-ours", "v2", nil)
	for _, id := range []string{"oci/runc/steps", "oci/crun/steps", "oci/crun/run"} {
		m.limited(t, id, "engine", "v2", inside)
	}
	for engine, program := range map[string]string{"docker": "dockerd", "podman": "podman"} {
		if !have[program] {
			t.Logf("%s is not installed and was not tried", program)
			continue
		}
		id := m.id(t, engine)
		m.limited(t, id, "engine", "v2", inside)
		if d := m.facts[id]["cgroup-driver"]; d != "cgroupfs" {
			t.Errorf("%s: the cgroup driver is said to be %q; there is no systemd", id, d)
		}
	}
	top := "/sys/fs/cgroup/"
	out.same("cgroups", top+"docker", top+"libpod_parent", top+"libpod_parent/conmon", top+"podman_probe")
	out.same("mounts")
	out.same("processes", "sh", "exe") // the script's own, while it looks
}

// Version 2 again: as a user in a group of his own, below the root of a cgroup
// namespace, and with an option of the mount that a run sets. In a machine of its own,
// which another processor emulates.
func TestVersion2Groups(t *testing.T) {
	t.Parallel()
	r := machine(t, "groups", "rootless", "box", "option", "kept")
	if !r.program("runc") || !r.program("crun") {
		t.Skip("runc and crun are not installed: lab/setup test installs them")
	}
	unshares := r.program("unshare")
	out := results{t, boot(t, r.disk(), "cgroup_no_v1=all")}

	out.ended("rootless", "0")
	user := out.record("rootless-record")
	user.limited(t, "floor", "cgroup-of-ours", "v2", nil)
	for _, in := range user.insides["host"] {
		if !strings.Contains(in.Cgroup, "/user/") {
			t.Errorf("as an ordinary user the group is %q, want one below /user", in.Cgroup)
		}
	}
	if text := out.text("cgroups-user"); strings.Contains(text, "plimsoll") {
		t.Errorf("groups of ours are left in the user's:\n%s", text)
	}

	out.ended("option", "0")
	option := out.record("option-record")
	for _, id := range []string{"floor/tuned-favordynmods-0", "floor/tuned-favordynmods-1"} {
		if n := option.trials[id]; n != 2 {
			t.Errorf("%s has %d trials: %s", id, n, option.left[id])
		}
	}
	out.ended("cleaned", "0")
	for when, want := range map[string]string{"after": "", "kept-one": "favordynmods", "killed": "", "kept-two": "favordynmods", "unguarded": "favordynmods", "cleaned": ""} {
		if got := strings.TrimSpace(out.text("favoured-" + when)); got != want {
			t.Errorf("%s: the mount has %q, want %q; the run that was killed said:\n%s", when, got, want, out.text("kept.err"))
		}
	}

	if !unshares {
		t.Skip("unshare is not installed: what is below the root of a cgroup namespace was not tried")
	}
	box := out.record("box-record")
	if f := box.facts["native"]; f["limits"] != "none" || !strings.Contains(f["limits-reason"], "processes are in that group") {
		t.Errorf("below processes, native's limits are %q (%s)", f["limits"], f["limits-reason"])
	}
	for _, id := range []string{"oci/runc", "oci/crun"} {
		if why := box.left[id]; !strings.Contains(why, "processes are in that group") || !strings.Contains(why, "mkdir -p /sys/fs/cgroup/init") {
			t.Errorf("below processes, %s is left out for %q", id, why)
		}
	}
	out.ended("mended", "0")
	mended := out.record("mended-record")
	mended.limited(t, "native", "cgroup-of-ours", "v2", nil)
	inside := map[string]string{"limit.memory.max": memoryAsked, "limit.cpu.max": cpuMaxAsked}
	mended.limited(t, "oci/runc", "engine", "v2", inside)
	mended.limited(t, "oci/crun", "engine", "v2", inside)
}

// Version 1 alone, and then with a version 2 mount beside it.
func TestVersion1AndBoth(t *testing.T) {
	t.Parallel()
	r := machine(t, "v1", "v1")
	if !r.program("runc") || !r.program("crun") {
		t.Skip("runc and crun are not installed: lab/setup test installs them")
	}
	out := results{t, boot(t, r.disk(), "")}
	host := out.doctor("doctor", "v1")
	if c := host.More["cgroup_controllers_v1"]; !strings.Contains(c, "memory") {
		t.Errorf("the controllers of version 1 are said to be %q", c)
	}
	out.ended("run", "0")
	m := out.record("record")
	inside := map[string]string{"limit.memory.limit_in_bytes": memoryAsked, "limit.cpu.cfs_quota_us": "50000", "limit.cpu.cfs_period_us": "100000"}
	m.limited(t, "host", "cgroup-of-ours", "v1", inside)
	m.limited(t, "native", "cgroup-of-ours", "v1", inside)
	m.limited(t, "oci/runc", "engine", "v1", inside)
	m.limited(t, "oci/crun", "engine", "v1", inside)
	out.same("cgroups")
	out.same("mounts")
	out.same("processes", "sh", "exe")

	both := out.doctor("hybrid", "hybrid")
	left := both.More["cgroup_controllers_v2"]
	if left == "" {
		t.Fatal("no controller is left on the version 2 mount: nothing can be learnt of crun")
	}
	// crun refuses such a machine, and that is known before it is measured.
	out.ended("engines", "0")
	var engines []struct {
		Name   string
		Levels map[string][]struct {
			Name, Reason string
			Usable       bool
		}
	}
	require.NoError(t, json.Unmarshal([]byte(out.text("engines.out")), &engines))
	seen := false
	for _, e := range engines {
		for _, l := range e.Levels["runtime"] {
			if e.Name == "oci" && l.Name == "crun" {
				seen = true
				if l.Usable || !strings.Contains(l.Reason, "hybrid") {
					t.Errorf("crun is said to be usable here (%v, %q), though version 2 has %s", l.Usable, l.Reason, left)
				}
			}
		}
	}
	if !seen {
		t.Error("crun is not among the runtimes")
	}
}
