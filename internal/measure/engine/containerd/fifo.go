package containerd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/containerd/containerd/v2/pkg/cio"
	"golang.org/x/sys/unix"

	"plimsoll/internal/common/safepath"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/apirun"
	"plimsoll/internal/measure/engine/stamp"
)

// fifoDir is where the containers' FIFOs are, below the run's directory.
const fifoDir = "containerd-fifo"

// fifos are a task's standard streams. A thread of their own waits for output,
// so that the first byte is not stamped when Go's scheduler comes round to it;
// and nothing of the output is lost when the task is deleted, as the library's
// own reader may lose it.
type fifos struct {
	config  cio.Config
	dir     string
	fds     []int // of stdout and stderr
	to      []io.Writer
	wake    [2]int // a pipe: closing its end [1] stops the thread
	leaving sync.Once
	closing sync.Once
	apirun.Drain
}

// openFIFOs makes and opens FIFOs; stdin may be nil.
func openFIFOs(kit *engine.Kit, id string, stdin io.Reader, stdout, stderr io.Writer) (_ *fifos, err error) {
	top := filepath.Join(kit.Dir, fifoDir)
	if err := os.MkdirAll(top, 0o711); err != nil {
		return nil, err
	}
	f := &fifos{dir: filepath.Join(top, id), to: []io.Writer{stdout, stderr}, wake: [2]int{-1, -1}, Drain: apirun.Drain{Done: make(chan struct{})}}
	if err := os.Mkdir(f.dir, 0o700); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			close(f.Done)
			err = errors.Join(err, f.Close())
		}
	}()
	f.config.Stdout, f.config.Stderr = filepath.Join(f.dir, "stdout"), filepath.Join(f.dir, "stderr")
	for _, path := range []string{f.config.Stdout, f.config.Stderr} {
		fd, err := openFIFO(path, unix.O_RDONLY)
		if err != nil {
			return nil, err
		}
		f.fds = append(f.fds, fd)
	}
	if stdin != nil {
		f.config.Stdin = filepath.Join(f.dir, "stdin")
		// Read-write, since a FIFO that nobody reads can't be opened for
		// writing without waiting.
		fd, err := openFIFO(f.config.Stdin, unix.O_RDWR)
		if err != nil {
			return nil, err
		}
		in := os.NewFile(uintptr(fd), f.config.Stdin)
		go func() {
			_, _ = io.Copy(in, stdin) // a payload that does not read is seen by its silence
			_ = in.Close()
		}()
	}
	if err := unix.Pipe2(f.wake[:], unix.O_CLOEXEC); err != nil {
		return nil, err
	}
	go f.follow()
	return f, nil
}

func openFIFO(path string, flags int) (int, error) {
	if err := unix.Mkfifo(path, 0o700); err != nil {
		return -1, fmt.Errorf("making the FIFO %s: %w", path, err)
	}
	fd, err := unix.Open(path, flags|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("opening the FIFO %s: %w", path, err)
	}
	return fd, nil
}

// follow copies until the writers have come and gone: a FIFO that nobody has
// opened for writing yet is not at its end, and poll waits.
func (f *fifos) follow() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer func() {
		f.At = stamp.Now()
		close(f.Done)
	}()
	buf := make([]byte, 32<<10)
	polls := []unix.PollFd{
		{Fd: int32(f.fds[0]), Events: unix.POLLIN}, {Fd: int32(f.fds[1]), Events: unix.POLLIN}, {Fd: int32(f.wake[0])}}
	for polls[0].Fd >= 0 || polls[1].Fd >= 0 {
		if _, err := unix.Poll(polls, -1); err != nil && err != unix.EINTR {
			return
		}
		if polls[2].Revents != 0 {
			return
		}
		for i := range f.fds {
			if polls[i].Fd < 0 || polls[i].Revents == 0 {
				continue
			}
			n, err := unix.Read(f.fds[i], buf)
			switch {
			case n > 0:
				_, _ = f.to[i].Write(buf[:n]) // a stream never fails
			case err == unix.EAGAIN || err == unix.EINTR:
			default:
				polls[i].Fd = -1 // poll passes it over
			}
		}
	}
}

func (f *fifos) Config() cio.Config { return f.config }

// Cancel does nothing: what is in the FIFOs is still to be read.
func (f *fifos) Cancel() {}

// Wait waits until all output has been read.
func (f *fifos) Wait() { <-f.Done }

// leave stops reading.
func (f *fifos) leave() {
	f.leaving.Do(func() {
		if f.wake[1] >= 0 {
			_ = unix.Close(f.wake[1])
		}
	})
}

// within stops reading where the context ends before settled is called. The client
// waits for the end of the output of a program that it could not start; one of which
// only the answer did not come in time is running, and its output does not end.
func (f *fifos) within(ctx context.Context) (settled func()) {
	stop := context.AfterFunc(ctx, f.leave)
	return func() { stop() }
}

// Close stops reading and removes the FIFOs.
func (f *fifos) Close() error {
	var err error
	f.closing.Do(func() {
		f.leave()
		<-f.Done
		for _, fd := range append([]int{f.wake[0]}, f.fds...) {
			if fd >= 0 {
				_ = unix.Close(fd)
			}
		}
		err = safepath.RemoveAll(f.dir)
	})
	return err
}
