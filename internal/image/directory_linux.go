package image

import "golang.org/x/sys/unix"

// setTime gives the fixed time to a file, or to a link itself.
func setTime(file string) error {
	ts := unix.NsecToTimespec(epoch.UnixNano())
	return unix.UtimesNanoAt(unix.AT_FDCWD, file, []unix.Timespec{ts, ts}, unix.AT_SYMLINK_NOFOLLOW)
}
