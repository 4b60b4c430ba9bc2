//go:build !unit

package vmtest

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// judgeQuick judges what quick.sh left: a part of what platform.sh does, on a platform that is
// quick enough for every run of the tests.
func judgeQuick(out results) {
	t := out.t
	host := out.doctor("doctor", "v2")
	t.Logf("%s %s, %s", host.OS, host.Kernel, host.CPU)
	if host.Virtual != "uml" {
		t.Errorf("the machine is said to be %q", host.Virtual)
	}
	// Who looks starts nothing: LXD is not in this release, Incus's socket listens.
	if got := strings.Fields(out.text("idle") + out.text("listens")); !slices.Equal(got, []string{"inactive", "inactive", "active"}) {
		t.Errorf("after `plimsoll engines` LXD, Incus and Incus's socket are %q", got)
	}
	for _, e := range out.engines("engines") {
		if e.Name == "incus" && (e.Usable || !strings.Contains(e.Reason, "socket-activated")) {
			t.Errorf("incus: usable %v, %q", e.Usable, e.Reason)
		}
	}
	inside := map[string]string{"limit.memory.max": memoryAsked, "limit.cpu.max": cpuMaxAsked}
	judged := func(name string, byUs, byEngine []string) {
		out.ended(name, "0")
		m := out.record(name + "-record")
		for i, id := range append(byUs, byEngine...) {
			by, version, want := "engine", "v2", inside
			if i < len(byUs) {
				by, version, want = "cgroup-of-ours", m.facts[id]["cgroup"], nil
			}
			t.Run(name+"/"+id, func(t *testing.T) {
				m.limited(t, id, by, version, want)
			})
		}
	}
	judged("root", []string{"host", "native", "floor", "bubblewrap", "nspawn"},
		[]string{"docker", "podman/rootful", "containerd", "oci/runc", "oci/crun"})
	judged("alice", []string{"host", "floor", "bubblewrap"}, []string{"podman/rootless"})
	for _, e := range out.engines("alice-engines") {
		if e.Name == "podman" && e.Facts["cgroup"] != "v2" {
			t.Errorf("for an ordinary user Podman's facts are %v", e.Facts)
		}
	}
	out.ended("killed", "137") // and not ended before
	removed := out.text("cleaned-2.out")
	for _, what := range []string{"docker-vfs", "docker-rl"} {
		if !regexp.MustCompile(`(?m)^removed daemon \S*/` + what).MatchString(removed) {
			t.Errorf("clean has not removed the killed run's own daemon %s:\n%s", what, removed)
		}
	}
	if strings.Contains(removed, "\nkept ") {
		t.Errorf("clean has kept something:\n%s", removed)
	}
	out.unchanged(4)
}
