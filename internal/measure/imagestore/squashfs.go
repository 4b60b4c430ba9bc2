//go:build linux

package imagestore

import (
	"context"
	"strconv"
	"time"
)

// makeSquashFS packs the root directory. Times, owners and order are fixed:
// the same directory gives the same bytes with the same mksquashfs.
func (s *Store) makeSquashFS(ctx context.Context, root, out string) error {
	tool, err := s.opts.LookPath("mksquashfs")
	if err != nil {
		return &Error{Text: "packing the image as SquashFS: there is no mksquashfs on this machine", Fix: "apt-get install squashfs-tools", Err: err}
	}
	at := strconv.FormatInt(epoch.Unix(), 10)
	return s.tool(ctx, 10*time.Minute, "packing the image as SquashFS", nil,
		tool, root, out, "-noappend", "-no-xattrs", "-all-root", "-all-time", at, "-mkfs-time", at, "-no-progress", "-quiet")
}
