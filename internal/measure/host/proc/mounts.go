//go:build linux

package proc

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/moby/sys/mountinfo"
	"golang.org/x/sys/unix"
)

// Mount is one line of mountinfo, with its octal escapes undone.
type Mount = mountinfo.Info

// Mounts lists the mounts of a mount namespace, in the order in which they were
// made; source: proc_pid_mountinfo(5).
func (d Dir) Mounts(who string) ([]*Mount, error) {
	text, err := d.read(who, "mountinfo")
	if err != nil {
		return nil, fmt.Errorf("reading the list of mounts: %w", err)
	}
	return ParseMounts(text)
}

// longest is how long a line may be for the library, which reads no longer one
// than bufio.MaxScanTokenSize.
const longest = 60 << 10

// ParseMounts reads the text of a mountinfo file. An overlay with hundreds of
// layers may have options beyond what the library reads: such a mount has no
// VFSOptions.
func ParseMounts(text string) ([]*Mount, error) {
	var short strings.Builder
	for line := range strings.Lines(text) {
		if len(line) > longest {
			line = line[:strings.LastIndexByte(line, ' ')+1] + "\n"
		}
		short.WriteString(line)
	}
	mounts, err := mountinfo.GetMountsFromReader(strings.NewReader(short.String()), nil)
	if err != nil {
		return nil, fmt.Errorf("reading the list of mounts: %w", err)
	}
	return mounts, nil
}

// On finds the mount that a clean absolute path lies on: the last one whose
// point is the longest, since a later mount covers an earlier. nil is none.
func On(mounts []*Mount, path string) *Mount {
	var best *Mount
	for _, m := range mounts {
		if Under(path, m.Mountpoint) && (best == nil || len(m.Mountpoint) >= len(best.Mountpoint)) {
			best = m
		}
	}
	return best
}

// remote are the types of parallel and network file systems.
var remote = []string{"lustre", "nfs", "nfs4", "fuse.glusterfs", "ceph", "fuse.ceph-fuse", "fuse.ceph", "fuse.mfs", "moosefs", "beegfs", "fuse.beegfs"}

// MooseFS begins the source of its mounts, whose type is only fuse where mfsmount
// was not started by mount(8).
const MooseFS = "mfs#"

// Remote says whether the servers of a mounted file system are elsewhere.
func Remote(m *Mount) bool {
	return slices.Contains(remote, m.FSType) || m.FSType == "fuse" && strings.HasPrefix(m.Source, MooseFS)
}

// Below gives the mount points at or below one of these clean directories, in
// the order in which they were mounted.
func Below(mounts []*Mount, dirs ...string) []string {
	var points []string
	for _, m := range mounts {
		for _, dir := range dirs {
			if dir != "" && Under(m.Mountpoint, dir) {
				points = append(points, m.Mountpoint)
				break
			}
		}
	}
	return points
}

// MountedBelow gives the mount points at and below a directory, by whatever links the
// way leads there: the kernel names them without. The directory itself is not looked
// at: what is mounted there may not answer any more.
func (d Dir) MountedBelow(dir string) ([]string, error) {
	mounts, err := d.Mounts(Self)
	if err != nil {
		return nil, err
	}
	names, err := Names(dir)
	if err != nil {
		return nil, fmt.Errorf("looking for what is mounted at %s: %w", dir, err)
	}
	return Below(mounts, names...), nil
}

// Names are those by which a list of mounts may have a path: as it is given, and without
// the links that lead to it, as the kernel names it. What it is itself is not looked at.
func Names(path string) ([]string, error) {
	names := []string{path}
	switch above, err := filepath.EvalSymlinks(filepath.Dir(path)); {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, unix.ENOTDIR):
	case err != nil:
		return nil, err
	default:
		if at := filepath.Join(above, filepath.Base(path)); at != path {
			names = append(names, at)
		}
	}
	return names, nil
}

// Under says whether a clean path is dir or lies below it.
func Under(path, dir string) bool {
	return path == dir || dir == "/" || strings.HasPrefix(path, dir+"/")
}
