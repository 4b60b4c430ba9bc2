package lxd

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/record"
)

// Sizes says what an environment's image takes, as engine.Puller has it. These
// engines are no Puller: they get images from servers of their own kind
// (simplestreams, or an OCI registry by HTTPS), not from a plain registry.
//
// On disk there are the files as they were handed over and, where the pool can
// make copies cheaply (btrfs, zfs, lvm), a volume unpacked from them; with dir
// every container is unpacked anew. What the daemon keeps where we can't look
// is not counted, and Disk is -1 where that is all of it.
func (env *environment) Sizes(ctx context.Context, ref string) (engine.ImageSizes, error) {
	s := engine.ImageSizes{Printed: -1, Unpacked: -1, Disk: -1, Shared: -1, Unique: -1, Converted: -1}
	name := engine.ImageName(env.spec)
	if ref != "" && ref != name && ref != env.kit.Images.Tag(name, env.kit.RunID) {
		return s, &engine.Error{Class: record.Unavailable, Text: "there is no image " + ref + " in " + env.e.title}
	}
	var img struct{ Size int64 }
	if err := env.d.get(ctx, "/1.0/images/"+env.image, &img); err != nil {
		return s, env.d.wrong("asking for the image "+name, err)
	}
	s.Printed = img.Size
	if known, err := env.kit.Images.Get(ctx, name); err == nil {
		s.Unpacked = known.Bytes
	}
	home, err := filepath.EvalSymlinks(env.d.socket)
	if err != nil {
		return s, nil
	}
	home = filepath.Dir(home)
	files, _ := filepath.Glob(filepath.Join(home, "images", env.image+"*"))
	volume := filepath.Join(home, "storage-pools", env.pool.Name, "images", env.image)
	s.How = "st_blocks of the image's files"
	if _, err := os.Stat(volume); err == nil {
		files = append(files, volume)
		s.How += " and of its volume in the pool"
	}
	for _, f := range files {
		s.Disk = max(s.Disk, 0) + allocated(f)
	}
	s.Unique = s.Disk // nothing is shared between images
	return s, nil
}

// allocated is what a file or a tree takes on disk, bytes.
func allocated(path string) int64 {
	var sum int64
	_ = filepath.WalkDir(path, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // what is gone takes nothing
		}
		if info, err := d.Info(); err == nil {
			if st, ok := info.Sys().(*syscall.Stat_t); ok {
				sum += st.Blocks * 512
			}
		}
		return nil
	})
	return sum
}
