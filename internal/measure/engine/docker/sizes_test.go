package docker

import (
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/moby/moby/api/types/system"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
)

// TestSizesBelow: where images are in containerd it is asked what they take. What it does not
// answer is not read, with the reason, and what the daemon printed stays.
func TestSizesBelow(t *testing.T) {
	t.Parallel()
	env := &environment{}
	said := engine.ImageSizes{Printed: 7, Unpacked: -1, Disk: -1, Shared: -1, Unique: -1, Converted: -1}
	socket := filepath.Join(t.TempDir(), "containerd.sock")
	for want, info := range map[string]*system.Info{
		"the daemon does not tell where its containerd listens": {},
		"asking containerd at " + socket:                        {Containerd: &system.ContainerdInfo{Address: socket}},
	} {
		z := env.sizesBelow(t.Context(), info, "busybox:1", said)
		if !strings.HasPrefix(z.How, "not read: ") || !strings.Contains(z.How, want) {
			t.Errorf("%q, and expected %q", z.How, want)
		}
		if z.How = ""; z != said {
			t.Errorf("the sizes are %+v", z)
		}
	}
	// One that listens is asked.
	l, err := net.Listen("unix", socket)
	require.NoError(t, err)
	asked := make(chan bool, 1)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			select {
			case asked <- true:
			default:
			}
			_ = c.Close()
		}
	}()
	defer l.Close()
	z := env.sizesBelow(t.Context(), &system.Info{Containerd: &system.ContainerdInfo{Address: socket}}, "busybox:1", said)
	if !<-asked || z.Disk != -1 || z.How == "" {
		t.Errorf("containerd was not asked: %+v", z)
	}
}
