// Package executed is told by the kernel which files are executed while a trial
// runs, so that a record can say which program really ran.
//
// It is opinionated: what counts is the file that the kernel opened to execute it,
// not what a path or a program says. It watches whole file systems, so that whoever
// executes a program, a shell, a daemon or a wrapper, is seen; and it reads what it
// was told after the trial, so that nothing of it runs meanwhile.
//
// Why it is so: docs/decisions/builds.md.
package executed

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// File is a file by what the kernel knows it by; a file that was written to or
// replaced is another one.
type File struct {
	Dev, Inode uint64
	Size       int64
	Changed    int64 // status change, ns
}

// Execution is one file that one process executed, as a program, an interpreter of
// it or its loader.
type Execution struct {
	PID  int
	File File
	Path string // by the mounts that we see, where it is in one of them
	// SHA256 is given for files of the sizes that are looked for: of what the kernel
	// executed, whatever lies at its path by now.
	SHA256 string
}

// Watch is told of executions on some file systems.
type Watch struct {
	fd    int
	sizes []int64
	sums  map[File]string
}

// Open watches the file systems on which these paths lie, and takes the digest of
// files that have one of the sizes, in bytes. It needs root, and
// fanotify with events for executions (Linux 5.0); fanotify(7).
func Open(sizes []int64, paths ...string) (*Watch, error) {
	fd, err := unix.FanotifyInit(unix.FAN_CLASS_NOTIF|unix.FAN_CLOEXEC|unix.FAN_NONBLOCK|unix.FAN_UNLIMITED_QUEUE, unix.O_RDONLY|unix.O_LARGEFILE|unix.O_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("asking the kernel to tell of executions (fanotify): %w", err)
	}
	w := &Watch{fd: fd, sizes: sizes, sums: map[File]string{}}
	marked := 0
	var last error
	for _, p := range paths {
		err := unix.FanotifyMark(fd, unix.FAN_MARK_ADD|unix.FAN_MARK_FILESYSTEM, unix.FAN_OPEN_EXEC, unix.AT_FDCWD, p)
		switch {
		case err == nil:
			marked++
		case !errors.Is(err, os.ErrNotExist):
			last = fmt.Errorf("watching for executions on the file system of %s (fanotify): %w", p, err)
		}
	}
	if marked == 0 || last != nil {
		return nil, errors.Join(last, w.Close())
	}
	return w, nil
}

// Close ends the watch.
func (w *Watch) Close() error { return unix.Close(w.fd) }

// Drain gives what was executed since it was called last, in its order.
func (w *Watch) Drain() (all []Execution, err error) {
	buf := make([]byte, 1<<16)
	for {
		n, err := unix.Read(w.fd, buf)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EAGAIN):
			return all, nil
		case err != nil:
			return all, fmt.Errorf("reading which files were executed: %w", err)
		}
		for b := buf[:n]; len(b) >= int(unsafe.Sizeof(unix.FanotifyEventMetadata{})); {
			e := event(b)
			if e.length < uint32(unsafe.Sizeof(unix.FanotifyEventMetadata{})) || int(e.length) > len(b) {
				break
			}
			if e.fd >= 0 {
				if x, err := w.look(e); err == nil {
					all = append(all, x)
				}
				_ = unix.Close(int(e.fd)) // it was only looked at
			}
			b = b[e.length:]
		}
	}
}

// raw is fanotify_event_metadata, of which these are needed.
type raw struct {
	length  uint32
	fd, pid int32
}

func event(b []byte) raw {
	return raw{binary.NativeEndian.Uint32(b), int32(binary.NativeEndian.Uint32(b[16:])), int32(binary.NativeEndian.Uint32(b[20:]))}
}

func (w *Watch) look(e raw) (Execution, error) {
	x := Execution{PID: int(e.pid)}
	f, err := fileOf(int(e.fd))
	x.File = f
	if err != nil {
		return x, err
	}
	x.Path, _ = os.Readlink(fmt.Sprintf("/proc/self/fd/%d", e.fd)) // a name for messages
	if slices.Contains(w.sizes, f.Size) {
		x.SHA256, err = w.sum(f, int(e.fd))
	}
	return x, err
}

// sum is the digest of a file, which is read once.
func (w *Watch) sum(f File, fd int) (string, error) {
	if s := w.sums[f]; s != "" {
		return s, nil
	}
	h := sha256.New()
	buf := make([]byte, 1<<20)
	for at := int64(0); ; {
		n, err := unix.Pread(fd, buf, at)
		if err != nil {
			return "", err
		}
		if n == 0 {
			break
		}
		h.Write(buf[:n])
		at += int64(n)
	}
	w.sums[f] = hex.EncodeToString(h.Sum(nil))
	return w.sums[f], nil
}

func fileOf(fd int) (File, error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return File{}, err
	}
	return File{uint64(st.Dev), st.Ino, st.Size, st.Ctim.Nano()}, nil //nolint:unconvert // 32 bits on some processors
}

// Of is the file at a path.
func Of(path string) (File, error) {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return File{}, fmt.Errorf("looking at %s: %w", path, err)
	}
	f, err := fileOf(fd)
	return f, errors.Join(err, unix.Close(fd))
}
