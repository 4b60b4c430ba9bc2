package safepath

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Dir is an open directory. What is done in it is done in this very directory,
// whatever its path leads to by now.
type Dir struct {
	f    *os.File
	path string
	rule Rule
	stat unix.Stat_t // as it was opened
}

func newDir(f *os.File, path string, rule Rule) (*Dir, error) {
	d := &Dir{f: f, path: path, rule: rule}
	if err := unix.Fstat(d.fd(), &d.stat); err != nil {
		f.Close()
		return nil, &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	return d, nil
}

// reopen makes a directory of a descriptor that was for looking only.
func reopen(fd int, path string, rule Rule) (*Dir, error) {
	n, err := openat(fd, ".", unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return newDir(os.NewFile(uintptr(n), path), path, rule)
}

func (d *Dir) fd() int { return int(d.f.Fd()) }

// Close lets go of the directory.
func (d *Dir) Close() error { return d.f.Close() }

// shared says whether others than the owner may write to the directory.
func (d *Dir) shared() bool { return shared(&d.stat) }

// OursAlone says whether the directory belongs to us, and nobody else may write to it.
func (d *Dir) OursAlone() bool { return d.Owner() == os.Geteuid() && !d.shared() }

// Closed refuses, for root, a directory that others may write to: what root
// puts there could be changed or replaced by them.
func (d *Dir) Closed() error {
	if os.Geteuid() != 0 || !d.shared() {
		return nil
	}
	return &UnsafeError{Path: d.path, At: d.path, UID: int(d.stat.Uid),
		Why: fmt.Sprintf("can be written to by others (mode %04o)", d.stat.Mode&0o7777),
		Fix: "choose a directory that is not there yet, or chmod go-w " + d.path}
}

// Owner is the number of the user whom the directory belongs to.
func (d *Dir) Owner() int { return int(d.stat.Uid) }

// Sync makes the names in the directory durable, where its file system can.
func (d *Dir) Sync() error {
	err := d.f.Sync()
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) {
		return nil // some network file systems can't
	}
	return err
}

// List gives what is in the directory, in no order.
func (d *Dir) List() ([]fs.DirEntry, error) {
	fd, err := openat(d.fd(), ".", unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return nil, d.failed("open", ".", err)
	}
	f := os.NewFile(uintptr(fd), d.path)
	defer f.Close()
	return f.ReadDir(-1)
}

func (d *Dir) create(name string, perm fs.FileMode) (*os.File, error) {
	fd, err := unix.Openat(d.fd(), name, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, uint32(perm.Perm()))
	if err != nil {
		return nil, d.failed("create", name, err)
	}
	return os.NewFile(uintptr(fd), filepath.Join(d.path, name)), nil
}

func (d *Dir) openFile(name string, flag int) (*os.File, error) {
	fd, err := openat(d.fd(), name, flag|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY)
	switch {
	case errors.Is(err, unix.ELOOP):
		return nil, d.failed("open", name, fmt.Errorf("%w but a symbolic link", ErrNotRegular))
	case errors.Is(err, unix.ENXIO):
		// A pipe that nobody reads, or a socket.
		return nil, d.failed("open", name, ErrNotRegular)
	case err != nil:
		return nil, d.failed("open", name, err)
	}
	f, err := only(os.NewFile(uintptr(fd), filepath.Join(d.path, name)), 0)
	if err != nil || flag&unix.O_ACCMODE == unix.O_RDONLY {
		return f, err
	}
	var st unix.Stat_t
	if err = unix.Fstat(int(f.Fd()), &st); err == nil {
		err = d.writable(name, &st)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// writable refuses, for root, a file that may be another's.
func (d *Dir) writable(name string, st *unix.Stat_t) error {
	at := filepath.Join(d.path, name)
	switch {
	case os.Geteuid() != 0:
		return nil
	case !d.rule.trusts(st.Uid):
		return &UnsafeError{Path: at, At: at, UID: int(st.Uid), Why: "belongs to " + whose(int(st.Uid)) + ", so it is not overwritten as root",
			Fix: "choose another name, or remove it"}
	case st.Mode&unix.S_IFMT == unix.S_IFREG && st.Nlink > 1:
		return &UnsafeError{Path: at, At: at, UID: -1, Why: "has a second name (a hard link) elsewhere, so it is not written to as root",
			Fix: "put a copy in its place, or choose another directory"}
	}
	return nil
}

// Replaceable says whether a file may be put in the place of what bears the
// name: of nothing, or of a regular file; for root, only of one of a trusted
// owner's. A link, a pipe or a directory stays.
func (d *Dir) Replaceable(name string) error {
	if err := plain(name); err != nil {
		return err
	}
	var st unix.Stat_t
	err := unix.Fstatat(d.fd(), name, &st, unix.AT_SYMLINK_NOFOLLOW)
	switch {
	case errors.Is(err, unix.ENOENT):
		return nil
	case err != nil:
		return d.failed("stat", name, err)
	case st.Mode&unix.S_IFMT == unix.S_IFLNK && os.Geteuid() != 0:
		return nil // the link is the user's own affair
	case st.Mode&unix.S_IFMT != unix.S_IFREG:
		return notRegular("replace", filepath.Join(d.path, name), fileMode(st.Mode))
	}
	st.Nlink = 1 // the other name keeps the old content
	return d.writable(name, &st)
}

func fileMode(mode uint32) fs.FileMode {
	switch mode & unix.S_IFMT {
	case unix.S_IFDIR:
		return fs.ModeDir
	case unix.S_IFIFO:
		return fs.ModeNamedPipe
	case unix.S_IFSOCK:
		return fs.ModeSocket
	case unix.S_IFLNK:
		return fs.ModeSymlink
	case unix.S_IFREG:
		return 0
	}
	return fs.ModeDevice
}

func (d *Dir) mkdir(name string, perm fs.FileMode) (*Dir, error) {
	if shared(&d.stat) && os.Geteuid() == 0 {
		perm = closed
	}
	if err := unix.Mkdirat(d.fd(), name, uint32(perm.Perm())); err != nil {
		return nil, d.failed("mkdir", name, err)
	}
	made, err := d.into(name)
	if err != nil {
		return nil, err
	}
	// Whoever owns d could have put another directory in the place of ours
	// meanwhile: ours belongs to us and is empty.
	if entries, err := made.List(); err != nil || len(entries) > 0 || int(made.stat.Uid) != os.Geteuid() {
		made.Close()
		return nil, &UnsafeError{Path: made.path, At: made.path, UID: int(made.stat.Uid),
			Why: "was replaced by another directory while it was made", Fix: "see who writes to " + d.path}
	}
	return made, nil
}

func (d *Dir) sub(name string) (*Dir, error) {
	s, err := d.into(name)
	if err != nil || os.Geteuid() != 0 {
		return s, err
	}
	if err := d.rule.look(s.path, s.path, &s.stat); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func (d *Dir) into(name string) (*Dir, error) {
	fd, err := openat(d.fd(), name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW)
	if err != nil {
		if errors.Is(err, unix.ELOOP) {
			err = unix.ENOTDIR
		}
		return nil, d.failed("open", name, err)
	}
	path := filepath.Join(d.path, name)
	return newDir(os.NewFile(uintptr(fd), path), path, d.rule)
}

// Give gives the directory itself to a user. It must be empty and our own:
// Mkdir has just made it.
func (d *Dir) Give(uid, gid int) error {
	entries, err := d.List()
	if err != nil {
		return err
	}
	if len(entries) > 0 || int(d.stat.Uid) != os.Geteuid() {
		return &UnsafeError{Path: d.path, At: d.path, UID: int(d.stat.Uid), Why: "is not new: it is not given away", Fix: "remove it"}
	}
	if err := unix.Fchown(d.fd(), uid, gid); err != nil {
		return d.failed("chown", ".", err)
	}
	return unix.Fstat(d.fd(), &d.stat)
}

// Group gives the directory itself to a group; its owner stays.
func (d *Dir) Group(gid int) error {
	if err := unix.Fchown(d.fd(), -1, gid); err != nil {
		return d.failed("chown", ".", err)
	}
	return unix.Fstat(d.fd(), &d.stat)
}

// Chmod gives the directory itself a mode, whatever the umask.
func (d *Dir) Chmod(perm fs.FileMode) error {
	if err := d.f.Chmod(perm); err != nil {
		return err
	}
	return unix.Fstat(d.fd(), &d.stat)
}

func (d *Dir) rename(from, to string) error {
	if err := unix.Renameat(d.fd(), from, d.fd(), to); err != nil {
		return &os.LinkError{Op: "rename", Old: filepath.Join(d.path, from), New: filepath.Join(d.path, to), Err: err}
	}
	return nil
}

func (d *Dir) remove(name string) error {
	err := unix.Unlinkat(d.fd(), name, 0)
	if errors.Is(err, unix.EISDIR) || errors.Is(err, unix.EPERM) {
		// Some file systems say EPERM of a directory: POSIX does.
		if rm := unix.Unlinkat(d.fd(), name, unix.AT_REMOVEDIR); !errors.Is(rm, unix.ENOTDIR) {
			err = rm
		}
	}
	if err != nil {
		return d.failed("remove", name, err)
	}
	return nil
}

func (d *Dir) failed(op, name string, err error) error {
	return &fs.PathError{Op: op, Path: filepath.Join(d.path, name), Err: err}
}
