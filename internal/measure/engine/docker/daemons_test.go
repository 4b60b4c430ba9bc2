package docker

import (
	"strings"
	"testing"
)

// TestUsesContainerd: a second daemon's containerd is its own, and not the system's.
func TestUsesContainerd(t *testing.T) {
	const other = "/run/other/containerd.sock"
	for _, c := range []struct{ says, argv, want string }{
		{"", "/usr/sbin/dockerd -H fd://", systemContainerd},
		{"", "dockerd --containerd=" + other + " -H unix:///run/other/docker.sock", other},
		{"", "dockerd --data-root /data --containerd " + other, other},
		{"", "dockerd --containerd=unix://" + other, other},
		{"", "dockerd --containerd-namespace=moby2 --containerd", systemContainerd},
		{"", "", systemContainerd},
		{other, "dockerd --config-file /etc/other.json", other},
		{"unix://" + other, "dockerd", other},
	} {
		if got := usesContainerd(c.says, strings.Fields(c.argv)); got != c.want {
			t.Errorf("%q, %q: %s, want %s", c.says, c.argv, got, c.want)
		}
	}
}
