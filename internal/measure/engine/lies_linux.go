package engine

import (
	"fmt"
	"path/filepath"

	"golang.org/x/sys/unix"

	"plimsoll/internal/measure/host/proc"
)

// Lying is the mounted file system that a path lies on.
type Lying struct {
	Type, Source, Mountpoint string
}

// Lies asks the kernel on which mount a path lies, links followed: by the mount's
// number, since a path alone does not tell what is mounted over what. Kernels
// before 5.8 have no such number; then the longest mount point decides, and the
// device must be the same.
func Lies(path string) (Lying, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return Lying{}, err
	}
	var st unix.Statx_t
	if err := unix.Statx(unix.AT_FDCWD, real, 0, unix.STATX_TYPE|unix.STATX_MNT_ID, &st); err != nil {
		return Lying{}, fmt.Errorf("asking on which mount %s lies: %w", real, err)
	}
	mounts, err := proc.Here.Mounts(proc.Self)
	if err != nil {
		return Lying{}, err
	}
	var m *proc.Mount
	if st.Mask&unix.STATX_MNT_ID != 0 {
		for _, x := range mounts {
			if uint64(x.ID) == st.Mnt_id {
				m = x
			}
		}
	} else if x := proc.On(mounts, real); x != nil && uint32(x.Major) == st.Dev_major && uint32(x.Minor) == st.Dev_minor { //nolint:gosec // numbers of devices
		m = x
	}
	if m == nil {
		return Lying{}, fmt.Errorf("asking on which mount %s lies: it is none that /proc/self/mountinfo has", real)
	}
	return Lying{Type: m.FSType, Source: m.Source, Mountpoint: m.Mountpoint}, nil
}

// The facts of an environment that say where its image lies.
const (
	imageFSFact    = "image-fs"
	imageMountFact = "image-mount"
)

// LiesOn are the facts of where an image lies, by the kernel.
func LiesOn(path string) map[string]string {
	l, err := Lies(path)
	if err != nil {
		return map[string]string{imageFSFact: "unknown: " + err.Error()}
	}
	fs := l.Type
	if l.Source != "" && l.Source != l.Type && l.Source != "none" {
		fs += " (" + l.Source + ")"
	}
	return map[string]string{imageFSFact: fs, imageMountFact: l.Mountpoint}
}
