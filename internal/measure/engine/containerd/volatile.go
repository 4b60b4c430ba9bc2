package containerd

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/containerd/containerd/v2/client"
	"github.com/containerd/containerd/v2/core/mount"
	"github.com/containerd/containerd/v2/core/snapshots"
	"github.com/containerd/containerd/v2/defaults"
	"google.golang.org/grpc"

	"plimsoll/internal/measure/engine"
)

// onlyOverlay: nothing else knows the mount option.
var onlyOverlay = engine.Rule{
	When: map[string][]string{engine.With: {engine.Volatile},
		engine.Storage: slices.DeleteFunc(slices.Clone(storageLevels), func(l string) bool { return l == defaultStorage })},
	Because: "Only the kernel's overlay can be volatile.",
	Source:  "https://docs.kernel.org/filesystems/overlayfs.html#volatile-mount",
}

// volatileOverlays are a snapshotter's whose overlays are mounted with the option
// volatile. The daemon has none for that in its older versions, and its own setting
// would be for all of its containers; but it is the client that hands a snapshot's
// mounts on to the runtime.
type volatileOverlays struct{ snapshots.Snapshotter }

func (v volatileOverlays) Mounts(ctx context.Context, key string) ([]mount.Mount, error) {
	all, err := v.Snapshotter.Mounts(ctx, key)
	for i := range all {
		writable := slices.ContainsFunc(all[i].Options, func(o string) bool { return strings.HasPrefix(o, "upperdir=") })
		if all[i].Type == "overlay" && writable {
			all[i].Options = append(slices.Clone(all[i].Options), "volatile")
		}
	}
	return all, err
}

// withVolatile gives a client on the daemon's connection whose containers have volatile
// overlays. It has this one snapshotter and no other, and is closed with the daemon's.
func (d *daemon) withVolatile(storage string) (*client.Client, error) {
	conn, ok := d.Conn().(*grpc.ClientConn)
	if !ok {
		return nil, errors.New("containerd's client reveals no connection")
	}
	over := map[string]snapshots.Snapshotter{storage: volatileOverlays{d.SnapshotService(storage)}}
	return client.NewWithConn(conn, client.WithDefaultNamespace(d.namespace), client.WithDefaultRuntime(defaults.DefaultRuntime),
		client.WithServices(client.WithSnapshotters(over)))
}
