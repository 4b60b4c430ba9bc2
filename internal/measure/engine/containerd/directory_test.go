package containerd

import (
	"testing"

	"github.com/containerd/containerd/v2/core/mount"
)

func TestOwnDirectory(t *testing.T) {
	for want, mounts := range map[string][]mount.Mount{
		"/s/2/fs": {{Type: "overlay", Options: []string{"index=off", "lowerdir=/s/2/fs:/s/1/fs"}}},
		"/s/3":    {{Type: "bind", Source: "/s/3"}},
		"":        {{Type: "btrfs", Source: "/dev/loop1"}},
	} {
		if got := ownDirectory(mounts); got != want {
			t.Errorf("%v: %q, want %q", mounts, got, want)
		}
	}
}
