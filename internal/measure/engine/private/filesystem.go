package private

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/internal/measure/child"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/host/proc"
	"plimsoll/internal/record"
)

// IsFileSystem reports whether a path lies on a loop file system of a private daemon, of
// whichever run: a copy of its mount in another namespace keeps the device busy.
func IsFileSystem(path string) bool { return strings.Contains(path, "/"+fsPrefix) }

// fsPrefix begins the names of directories that a loop file system of ours is
// mounted on, by which other daemons of ours let go of it.
const fsPrefix = "plimsoll-fs-"

// fsTail ends the names of the folders of file systems.
const fsTail = "-fs"

// fsLimit bounds each step of making a file system.
const fsLimit = 30 * time.Second

// makers are the packages that bring mkfs, and the options that make it quiet.
var makers = map[string]struct {
	pkg  string
	args []string
}{
	"btrfs": {"btrfs-progs", []string{"-q"}},
	"xfs":   {"xfsprogs", []string{"-q"}},
	"ext4":  {"e2fsprogs", []string{"-q", "-F"}},
}

// FileSystem is a file system of ours on a loop device.
type FileSystem struct {
	Path string // where it is mounted

	kit   *engine.Kit
	dir   string
	label string
	mu    sync.Mutex
	done  bool
}

// MountPoint is where the file system of this name is mounted, if it was made.
func MountPoint(kit *engine.Kit, name string) string {
	return filepath.Join(kit.Dir, folder, name+fsTail, fsPrefix+name)
}

// CanMake says why a file system on a loop device can't be had, or nil. It
// changes nothing.
func CanMake(kit *engine.Kit, fs string) *engine.Error {
	no := func(fix, format string, args ...any) *engine.Error {
		return &engine.Error{Class: record.Unavailable, Text: fmt.Sprintf(format, args...), Fix: fix}
	}
	maker, ok := makers[fs]
	switch {
	case !ok:
		return no("", "no file system %s is made on loop devices", fs)
	case !kit.Root:
		return no("sudo plimsoll …", "a file system on a loop device needs root")
	case !KernelHas(fs):
		return no(engine.Modprobe(fs), "the kernel has no %s", fs)
	}
	if _, err := kit.LookPath("mkfs." + fs); err != nil {
		return no("apt-get install "+maker.pkg, "mkfs.%s is not installed", fs)
	}
	if _, err := os.Stat("/dev/loop-control"); err != nil {
		return no(engine.Modprobe("loop"), "the kernel has no loop devices")
	}
	return nil
}

// KernelHas says whether the kernel has a file system, or a module for it that
// a mount would load.
func KernelHas(fs string) bool {
	if proc.Here.HasFileSystem(fs) {
		return true
	}
	modules, err := os.ReadFile(filepath.Join("/lib/modules", proc.Release(), "modules.dep"))
	return err == nil && strings.Contains(string(modules), "/"+fs+".ko")
}

// MakeFileSystem makes a sparse file of so many bytes below Kit.Dir, a file
// system in it, and mounts it. btrfs takes 128 MiB at least, xfs 320 MiB.
func MakeFileSystem(ctx context.Context, kit *engine.Kit, name, fs string, bytes int64) (*FileSystem, error) {
	if err := CanMake(kit, fs); err != nil {
		return nil, err
	}
	f := &FileSystem{kit: kit, label: kit.RunID + "/" + name}
	if err := kit.Ledger.Made(engine.Thing{Kind: engine.KindFileSystem, Name: f.label}); err != nil {
		return nil, err
	}
	err := f.make(ctx, name, fs, bytes)
	if err == nil {
		return f, nil
	}
	err = &engine.Error{Class: record.Unavailable, Text: fmt.Sprintf("making a file system %s on a loop device", fs), Err: err}
	return nil, errors.Join(err, f.Close(ctx))
}

func (f *FileSystem) make(ctx context.Context, name, fs string, bytes int64) (err error) {
	if f.dir, err = ownFolder(f.kit, name+fsTail); err != nil {
		return err
	}
	image, point := filepath.Join(f.dir, "image"), filepath.Join(f.dir, fsPrefix+name)
	if err := os.WriteFile(image, nil, 0o600); err != nil {
		return err
	}
	if err := os.Truncate(image, bytes); err != nil {
		return err
	}
	if err := os.Mkdir(point, 0o755); err != nil {
		return err
	}
	if err := command(ctx, append(append([]string{"mkfs." + fs}, makers[fs].args...), image)...); err != nil {
		return err
	}
	// mount frees the loop device with the last mount of it (LO_FLAGS_AUTOCLEAR).
	if err := command(ctx, "mount", "-t", fs, "-o", "loop", image, point); err != nil {
		return err
	}
	f.Path = point
	return nil
}

// command runs a program; its error has what it said.
func command(ctx context.Context, argv ...string) error {
	out, err := child.Run(ctx, child.Command{Argv: argv, Env: append(os.Environ(), adapter.Path, "LC_ALL=C"), Limit: fsLimit, Together: true})
	if err != nil {
		return fmt.Errorf("%s: %w: %s", argv[0], err, adapter.Words(out.Stdout))
	}
	return nil
}

// Close unmounts the file system and removes its file. A mount namespace of
// somebody else's may still hold a copy; then the error says whose, and the
// loop device goes with it. It is safe to call twice.
func (f *FileSystem) Close(context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.done {
		return nil
	}
	if f.dir != "" {
		if err := undoFileSystem(f.dir); err != nil {
			return fmt.Errorf("removing the file system of %s: %w", f.label, err)
		}
	}
	f.done = true
	return f.kit.Ledger.Gone(engine.Thing{Kind: engine.KindFileSystem, Name: f.label})
}

// undoFileSystem unmounts what lies below a directory of a file system, frees
// its loop device and removes the directory.
func undoFileSystem(dir string) error {
	points, err := mountsBelow(dir)
	if err != nil {
		return err
	}
	for i := len(points) - 1; i >= 0; i-- {
		if err := unmount(points[i]); err != nil {
			return err
		}
	}
	if err := freeLoops(dir); err != nil {
		return err
	}
	return removeFolder(dir)
}

// unmount is patient with a file system whose last user has just ended.
func unmount(point string) error {
	var err error
	for wait := time.Millisecond; wait < 2*time.Second; wait *= 2 {
		err = unix.Unmount(point, unix.UMOUNT_NOFOLLOW)
		if !errors.Is(err, unix.EBUSY) {
			break
		}
		time.Sleep(wait)
	}
	if err != nil && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOENT) {
		return fmt.Errorf("unmounting %s: %w", point, err)
	}
	return nil
}

// loopsBelow lists the loop devices whose file lies below a directory.
func loopsBelow(dir string) []string {
	files, _ := filepath.Glob("/sys/block/loop*/loop/backing_file")
	var names []string
	for _, file := range files {
		if b, err := os.ReadFile(file); err == nil && strings.HasPrefix(string(b), dir+"/") {
			names = append(names, filepath.Base(filepath.Dir(filepath.Dir(file))))
		}
	}
	return names
}

// loopLimit is for how long a device may be busy: a mount namespace that was
// made beside our mount holds a copy of it, and most end soon (Docker unpacks
// each image in one).
const loopLimit = 15 * time.Second

// freeLoops waits until the kernel has freed the loop devices of a directory,
// and frees those that do not go by themselves.
func freeLoops(dir string) error {
	var left []string
	for wait, end := time.Millisecond, time.Now().Add(loopLimit); ; wait = min(2*wait, time.Second) {
		if left = loopsBelow(dir); len(left) == 0 {
			return nil
		}
		if time.Now().After(end) {
			break
		}
		for _, name := range left {
			clearLoop("/dev/" + name)
		}
		time.Sleep(wait)
	}
	return fmt.Errorf("the loop device %s is busy: a copy of its mount is in the namespace of %s", left[0], strings.Join(holders(dir), ", "))
}

// clearLoop asks the kernel to let go of the file; of a device in use it does
// so with the last user. Whether it did is seen by loopsBelow.
func clearLoop(device string) {
	fd, err := unix.Open(device, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	_ = unix.IoctlSetInt(fd, unix.LOOP_CLR_FD, 0)
	_ = unix.Close(fd)
}

// holders lists the processes, one of each mount namespace, that see a mount
// below a directory.
func holders(dir string) []string {
	seen := map[string]bool{}
	var found []string
	for _, pid := range proc.Here.PIDs() {
		ns, _ := os.Readlink(fmt.Sprintf("/proc/%d/ns/mnt", pid))
		mounts, _ := proc.Here.Mounts(proc.PID(pid))
		sees := func(m *proc.Mount) bool { return strings.Contains(m.Mountpoint+" "+m.VFSOptions, dir) }
		if p, ok := readProcess(pid); ok && !seen[ns] && slices.ContainsFunc(mounts, sees) {
			seen[ns] = true
			found = append(found, "process "+p.String())
		}
	}
	return found
}
