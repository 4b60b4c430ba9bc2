package safepath

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// mostNames bounds what is held in memory of one directory's names at a time.
const mostNames = 1024

func (d *Dir) removeAll(name string) error {
	mount, err := mountID(d.fd())
	if err != nil {
		return d.failed("look at the mount of", ".", err)
	}
	return d.removeTree(name, mount)
}

// removeAll removes name below in. The caller need not be able to read in.
func removeAll(in, name string) error {
	fd, err := openat(unix.AT_FDCWD, in, unix.O_PATH|unix.O_DIRECTORY)
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	if err != nil {
		return &fs.PathError{Op: "open", Path: in, Err: err}
	}
	d, err := newDir(os.NewFile(uintptr(fd), in), in, Rule{})
	if err != nil {
		return err
	}
	defer d.Close()
	return d.removeAll(name)
}

// removeTree removes a name and what is in it, as long as it lies on the mount
// with this id.
func (d *Dir) removeTree(name string, mount string) error {
	err := d.remove(name)
	if err == nil || errors.Is(err, unix.ENOENT) {
		return nil
	}
	// What may not be removed itself may be emptied: a directory of a user's in one of ours.
	denied := errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM)
	if !denied && !errors.Is(err, unix.ENOTEMPTY) && !errors.Is(err, unix.EEXIST) {
		return d.ofMount(name, err)
	}
	s, ierr := d.into(name)
	if ierr != nil {
		if errors.Is(ierr, unix.ENOENT) {
			return nil
		}
		if denied {
			return err
		}
		return ierr
	}
	defer s.Close()
	switch here, err := mountID(s.fd()); {
	case err != nil:
		return s.failed("look at the mount of", ".", err)
	case here != mount:
		return d.ofMount(name, unix.EBUSY)
	}
	if err := s.empty(mount); err != nil {
		return err
	}
	if err := d.remove(name); err != nil && !errors.Is(err, unix.ENOENT) {
		return d.ofMount(name, err)
	}
	return nil
}

// empty removes what is in a directory. What can't be removed does not keep
// the rest.
func (d *Dir) empty(mount string) error {
	var errs []error
	stuck := map[string]bool{}
	for {
		fd, err := openat(d.fd(), ".", unix.O_RDONLY|unix.O_DIRECTORY)
		if err != nil {
			return errors.Join(append(errs, d.failed("open", ".", err))...)
		}
		list := os.NewFile(uintptr(fd), d.path)
		// Those that are stuck come again: they must not hide what follows.
		names, err := list.Readdirnames(mostNames + len(stuck))
		list.Close()
		if err != nil && !errors.Is(err, io.EOF) {
			return errors.Join(append(errs, err)...)
		}
		again := false
		for _, n := range names {
			if stuck[n] {
				continue
			}
			again = true
			if err := d.removeTree(n, mount); err != nil {
				stuck[n] = true
				errs = append(errs, err)
			}
		}
		if !again {
			return errors.Join(errs...)
		}
	}
}

// ofMount says of EBUSY what it means here.
func (d *Dir) ofMount(name string, err error) error {
	if errors.Is(err, unix.EBUSY) {
		return d.failed("remove", name, fmt.Errorf("%w; umount %s", ErrMounted, filepath.Join(d.path, name)))
	}
	return err
}

// mountID tells the mount that an open file lies on: two binds of one file
// system have the same device, but not the same mount. Where a kernel tells of no mounts,
// as gVisor's, the device has to do; it does not remove a place with a mount on it either.
func mountID(fd int) (id string, err error) {
	for _, tell := range mountTellers {
		if id, err = tell(fd); err == nil {
			return id, nil
		}
	}
	if !errors.Is(err, errUntold) {
		return "", err
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return "", err
	}
	return fmt.Sprint("device ", st.Dev), nil
}

var errUntold = errors.New("the kernel lists no mount")

// mountTellers give the same numbers, each where it can. A handle is for kernels before
// 5.8, on which a thread of root's that has a user's rights may not look into fdinfo; not
// every file system has handles.
var mountTellers = []func(fd int) (string, error){mountByStatx, mountByHandle, mountByFdinfo}

func mountByStatx(fd int) (string, error) {
	var st unix.Statx_t
	const mntID = unix.STATX_MNT_ID // since Linux 5.8
	if err := unix.Statx(fd, "", unix.AT_EMPTY_PATH, mntID, &st); err != nil {
		return "", err
	}
	if st.Mask&mntID == 0 {
		return "", errors.ErrUnsupported
	}
	return fmt.Sprint(st.Mnt_id), nil
}

func mountByHandle(fd int) (string, error) {
	_, id, err := unix.NameToHandleAt(fd, "", unix.AT_EMPTY_PATH)
	return fmt.Sprint(id), err
}

// Source: proc(5), /proc/PID/fdinfo, mnt_id; since Linux 3.15.
func mountByFdinfo(fd int) (string, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/self/fdinfo/%d", fd))
	if err != nil {
		return "", err
	}
	return mountIn(string(text))
}

// mountIn finds the mount in what fdinfo has.
func mountIn(text string) (string, error) {
	for line := range strings.Lines(text) {
		if id, ok := strings.CutPrefix(line, "mnt_id:"); ok {
			return strings.TrimSpace(id), nil
		}
	}
	return "", errUntold
}
