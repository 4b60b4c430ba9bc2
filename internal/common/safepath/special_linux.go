package safepath

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// OpenSpecial opens for writing what bears the name and is no file that could
// be replaced: a device, a pipe, /dev/stdout. It gives nil where there is none
// such. A pipe is waited for until somebody reads it, as the shell does. Root
// takes none of somebody else's, and follows a link only where nobody else
// could have made it.
func (d *Dir) OpenSpecial(name string) (*os.File, error) {
	if err := plain(name); err != nil {
		return nil, err
	}
	var st unix.Stat_t
	err := unix.Fstatat(d.fd(), name, &st, unix.AT_SYMLINK_NOFOLLOW)
	if errors.Is(err, unix.ENOENT) {
		return nil, nil
	}
	if err != nil {
		return nil, d.failed("stat", name, err)
	}
	flags := unix.O_WRONLY | unix.O_NOCTTY
	theirs := d.shared() || !ours(d.stat.Uid) // others may have put it there
	if st.Mode&unix.S_IFMT == unix.S_IFLNK {
		if os.Geteuid() == 0 && (theirs || !ours(st.Uid)) {
			return nil, nil // Replaceable says what is wrong with it
		}
		var to unix.Stat_t
		if err := unix.Fstatat(d.fd(), name, &to, 0); err != nil {
			return nil, nil // it leads nowhere
		}
		switch to.Mode & unix.S_IFMT {
		case unix.S_IFREG:
			// The shell's own words for what is open already lead to files too.
			if !strings.HasPrefix(d.path+"/", "/dev/") && !strings.HasPrefix(d.path+"/", "/proc/") {
				return nil, nil
			}
			flags |= unix.O_APPEND
		case unix.S_IFDIR:
			return nil, nil
		}
	} else {
		switch st.Mode & unix.S_IFMT {
		case unix.S_IFREG, unix.S_IFDIR:
			return nil, nil
		}
		if err := d.writable(name, &st); theirs && err != nil {
			return nil, err
		}
		flags |= unix.O_NOFOLLOW
	}
	fd, err := openat(d.fd(), name, flags)
	if err != nil {
		return nil, d.failed("open", name, err)
	}
	return os.NewFile(uintptr(fd), filepath.Join(d.path, name)), nil
}
