package docker

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/containerd/containerd/v2/pkg/namespaces"
	"github.com/moby/moby/api/types/system"
	"github.com/moby/moby/client"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/containerdclient"
)

// sizesLimit is how long the sizes of an image may take.
const sizesLimit = time.Minute

// Sizes reads Disk layer by layer in the daemon's directory, where that can be
// read. A layer is shared if another image of the daemon has it too.
func (env *environment) Sizes(ctx context.Context, ref string) (engine.ImageSizes, error) {
	ctx, cancel := context.WithTimeout(ctx, sizesLimit)
	defer cancel()
	z := engine.ImageSizes{Unpacked: -1, Disk: -1, Shared: -1, Unique: -1, Converted: -1}
	im, err := env.d.ImageInspect(ctx, ref)
	if err != nil {
		return z, env.d.wrong("looking up the image "+ref, err)
	}
	z.Printed = im.Size
	if env.Fact("image-store") == "" {
		z.Unpacked = im.Size // the classic store counts the files of all layers
	}
	answer, err := env.d.Info(ctx, client.InfoOptions{})
	if err != nil {
		return z, env.d.wrong("asking the daemon for its directory", err)
	}
	if env.Fact("image-store") != "" {
		return env.sizesBelow(ctx, &answer.Info, ref, z), nil
	}
	chain := chainIDs(im.RootFS.Layers)
	dirs := layerDirs(answer.Info.DockerRootDir, answer.Info.Driver, chain)
	if dirs == nil {
		z.How = "not read: the layers of the driver " + answer.Info.Driver + " can't be found or read"
		return z, nil
	}
	others, err := env.layersOfOthers(ctx, im.ID)
	if err != nil {
		return z, err
	}
	return addUp(z, answer.Info.Driver, chain, dirs, others)
}

// sizesBelow reads what an image takes where the daemon's images are in containerd, which is asked.
func (env *environment) sizesBelow(ctx context.Context, info *system.Info, ref string, z engine.ImageSizes) engine.ImageSizes {
	if info.Containerd == nil {
		z.How = "not read: the daemon does not tell where its containerd listens (Docker 27 and newer do)"
		return z
	}
	below, err := sizesIn(ctx, info, ref, z.Printed)
	if err != nil {
		z.How = fmt.Sprintf("not read: asking containerd at %s: %v", info.Containerd.Address, err)
		return z
	}
	return below
}

// sizesIn asks the containerd that a daemon names. No snapshot is made: the daemon's users
// would see it.
func sizesIn(ctx context.Context, info *system.Info, ref string, printed int64) (z engine.ImageSizes, err error) {
	c, err := containerdclient.Dial(ctx, info.Containerd.Address, sizesLimit)
	if err != nil {
		return z, err
	}
	defer c.Close() //nolint:errcheck // it was only read from
	ctx = namespaces.WithNamespace(ctx, info.Containerd.Namespaces.Containers)
	img, err := c.GetImage(ctx, ref)
	if err != nil {
		return z, err
	}
	return containerdclient.Sizes(ctx, c, img, printed, func(ctx context.Context, key string, _ bool) (containerdclient.Layer, error) {
		usage, err := c.SnapshotService(info.Driver).Usage(ctx, key)
		return containerdclient.Layer{Allocated: usage.Size, Apparent: -1}, err
	})
}

// addUp reads what the layers take.
func addUp(z engine.ImageSizes, driver string, chain, dirs []string, others map[string]bool) (engine.ImageSizes, error) {
	if driver == "btrfs" {
		// A layer is a snapshot of the one below it, whose extents it shares:
		// the last one has them all, and whose they are st_blocks does not tell.
		u, err := adapter.DiskUsage(dirs[len(dirs)-1])
		z.Disk, z.How = u.Allocated, "st_blocks of the last layer's snapshot"
		return z, err
	}
	var shared, unique int64
	for i, dir := range dirs {
		u, err := adapter.DiskUsage(dir)
		if err != nil {
			return z, err
		}
		if others[chain[i]] {
			shared += u.Allocated
		} else {
			unique += u.Allocated
		}
	}
	z.Disk, z.Shared, z.Unique = shared+unique, shared, unique
	z.How = "st_blocks of the layers' directories of " + driver
	if driver == "vfs" {
		z.How += ", each a copy of the one below"
	}
	return z, nil
}

// layersOfOthers gives the chain ids of the layers of every other image.
func (env *environment) layersOfOthers(ctx context.Context, id string) (map[string]bool, error) {
	list, err := env.d.ImageList(ctx, client.ImageListOptions{All: true})
	if err != nil {
		return nil, env.d.wrong("listing the images", err)
	}
	held := map[string]bool{}
	for _, s := range list.Items {
		if s.ID == id {
			continue
		}
		other, err := env.d.ImageInspect(ctx, s.ID)
		if err != nil {
			continue // removed meanwhile by somebody else
		}
		for _, c := range chainIDs(other.RootFS.Layers) {
			held[c] = true
		}
	}
	return held, nil
}

// chainIDs names each layer with all that lie below it; source: the OCI image
// specification, config.md, "Layer ChainID".
func chainIDs(layers []string) []string {
	var chain []string
	for i, l := range layers {
		if i > 0 {
			sum := sha256.Sum256([]byte(chain[i-1] + " " + l))
			l = "sha256:" + hex.EncodeToString(sum[:])
		}
		chain = append(chain, l)
	}
	return chain
}

// layerDirs finds the directories of layers; nil where one can't be read.
func layerDirs(root, driver string, chain []string) []string {
	var dirs []string
	for _, c := range chain {
		id, err := os.ReadFile(filepath.Join(root, "image", driver, "layerdb", "sha256", strings.TrimPrefix(c, "sha256:"), "cache-id"))
		name := strings.TrimSpace(string(id))
		if err != nil || name == "" || filepath.Base(name) != name {
			return nil
		}
		dir := ""
		switch driver {
		case "overlay2", "fuse-overlayfs":
			dir = filepath.Join(root, driver, name, "diff")
		case "vfs":
			dir = filepath.Join(root, "vfs", "dir", name)
		case "btrfs":
			dir = filepath.Join(root, "btrfs", "subvolumes", name)
		}
		if dir == "" || !exists(dir) {
			return nil
		}
		dirs = append(dirs, dir)
	}
	return dirs
}
