package cri

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/internal/measure/engine/stamp"
)

// logPeriod is between two looks at a log file where the kernel can't tell us
// of its growth.
const logPeriod = 2 * time.Millisecond

// crowded is between two looks at a log that has begun, in ms.
const crowded = 5

// logFile follows the log file of one container, over rotations, until it is
// told to stop. Its goroutine waits in the kernel on a thread of its own, so
// that Go's scheduler does not stand between the first byte and its stamp.
type logFile struct {
	out, err *stamp.Stream
	done     chan struct{} // closed when all that there is has been read

	path   string
	notify int // inotify; -1 where there is none
	quit   int // an eventfd
	files  []*tailed
	made   int // how often a file of this name appeared, by inotify's word
	fault  error
}

// tailed is one file; after a rotation there are several, since a writer may
// go on with the old one for a moment.
type tailed struct {
	f      *os.File
	info   os.FileInfo
	offset int64
	parser logParser
}

// followLog watches for a file that need not exist yet; its directory must.
// With polled, inotify is left out.
func followLog(path string, limit int, polled bool) (*logFile, error) {
	l := &logFile{path: path, notify: -1, done: make(chan struct{}),
		out: stamp.NewStream(limit), err: stamp.NewStream(limit)}
	var err error
	if l.quit, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		return nil, fmt.Errorf("making an eventfd: %w", err)
	}
	if !polled {
		if l.notify, err = watchDirectory(filepath.Dir(path)); err != nil {
			_ = unix.Close(l.quit)
			return nil, err
		}
	}
	go l.follow()
	return l, nil
}

// watchDirectory gives an inotify descriptor for what appears and grows in a
// directory.
func watchDirectory(dir string) (int, error) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return -1, fmt.Errorf("watching %s: inotify_init: %w", dir, err)
	}
	if _, err := unix.InotifyAddWatch(fd, dir, unix.IN_CREATE|unix.IN_MODIFY|unix.IN_MOVED_TO); err != nil {
		_ = unix.Close(fd)
		return -1, fmt.Errorf("watching %s: inotify_add_watch: %w", dir, err)
	}
	return fd, nil
}

// howWatched says by what logs are watched on this machine.
func howWatched(dir string) (polled bool, fact string) {
	fd, err := watchDirectory(dir)
	if err != nil {
		return true, fmt.Sprintf("poll every %v (%v)", logPeriod, err)
	}
	_ = unix.Close(fd)
	return false, "inotify"
}

// Stop reads what is still there, and ends; the error says what of the log
// could not be understood. It may be called twice.
func (l *logFile) Stop() error {
	var one [8]byte
	binary.NativeEndian.PutUint64(one[:], 1)
	select {
	case <-l.done:
	default:
		_, _ = unix.Write(l.quit, one[:])
		<-l.done
		_ = unix.Close(l.quit)
	}
	return l.fault
}

func (l *logFile) follow() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(l.done)
	defer l.finish()
	buf := make([]byte, 64<<10)
	fds := []unix.PollFd{{Fd: int32(l.quit), Events: unix.POLLIN}}
	timeout := int(logPeriod / time.Millisecond)
	if l.notify >= 0 {
		fds = append(fds, unix.PollFd{Fd: int32(l.notify), Events: unix.POLLIN})
		timeout = -1
	}
	for {
		if l.out.First() != 0 {
			// The first byte is what must be seen at once. A reader that is woken
			// by every line would hold the writer up, and what a server has not
			// written two seconds after the end is lost.
			_, _ = unix.Poll(fds[:1], crowded)
		}
		if _, err := unix.Poll(fds, timeout); err != nil && !errors.Is(err, unix.EINTR) {
			l.fault = fmt.Errorf("waiting for the log %s: %w", l.path, err)
			return
		}
		over := fds[0].Revents != 0
		if l.notify >= 0 {
			l.takeEvents(buf)
		}
		if l.fault = l.drain(buf); over || l.fault != nil {
			return
		}
	}
}

// takeEvents counts how often our file appeared.
func (l *logFile) takeEvents(buf []byte) {
	base := filepath.Base(l.path)
	for {
		n, err := unix.Read(l.notify, buf)
		if err != nil || n <= 0 {
			return
		}
		for b := buf[:n]; len(b) >= unix.SizeofInotifyEvent; {
			mask := binary.NativeEndian.Uint32(b[4:])
			end := unix.SizeofInotifyEvent + int(binary.NativeEndian.Uint32(b[12:]))
			name := strings.TrimRight(string(b[unix.SizeofInotifyEvent:end]), "\x00")
			if name == base && mask&(unix.IN_CREATE|unix.IN_MOVED_TO) != 0 {
				l.made++
			}
			b = b[end:]
		}
	}
}

// drain reads what all files have, the oldest first, and opens a new one
// where there is one.
func (l *logFile) drain(buf []byte) error {
	for {
		for _, t := range l.files {
			if err := t.drain(buf); err != nil {
				return fmt.Errorf("reading the log %s: %w", l.path, err)
			}
		}
		info, err := os.Stat(l.path)
		if err != nil || l.has(info) {
			return nil // none yet, or moved away, or the one that we read
		}
		f, err := os.Open(l.path)
		if os.IsNotExist(err) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading the log: %w", err)
		}
		t := &tailed{f: f, parser: logParser{stdout: l.out, stderr: l.err}}
		if t.info, err = f.Stat(); err != nil || l.has(t.info) {
			_ = f.Close()
			return err
		}
		l.files = append(l.files, t)
	}
}

func (l *logFile) has(info os.FileInfo) bool {
	for _, t := range l.files {
		if os.SameFile(t.info, info) {
			return true
		}
	}
	return false
}

func (t *tailed) drain(buf []byte) error {
	for {
		n, err := t.f.Read(buf)
		t.offset += int64(n)
		_, _ = t.parser.Write(buf[:n])
		if err == nil {
			continue
		}
		if err != io.EOF {
			return err
		}
		// Somebody may have copied the file away and emptied it.
		if info, err := t.f.Stat(); err == nil && info.Size() < t.offset {
			t.parser.End()
			t.offset = 0
			if _, err := t.f.Seek(0, io.SeekStart); err != nil {
				return err
			}
			continue
		}
		return nil
	}
}

// finish closes everything and judges what was read.
func (l *logFile) finish() {
	bad := 0
	for _, t := range l.files {
		t.parser.End()
		bad += t.parser.Malformed
		_ = t.f.Close()
	}
	if l.notify >= 0 {
		// The kernel lets go of the watches after a grace period of its own,
		// which takes 15 to 25 ms, and closing waits for it.
		go func(fd int) { _ = unix.Close(fd) }(l.notify)
	}
	switch {
	case l.fault != nil:
	case bad > 0:
		l.fault = fmt.Errorf("%d lines of the log %s are not in the format of the CRI", bad, l.path)
	case l.made > len(l.files):
		l.fault = fmt.Errorf("the log %s was rotated faster than it was read: %d files, of which %d were seen", l.path, l.made, len(l.files))
	}
}
