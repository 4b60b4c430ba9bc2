package run

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/internal/measure/engine/stamp"
)

// firstAnswer asks for a page at a port of 127.0.0.1, and again at once while
// there is none, until one has the word: how long that took. Sockets block and
// the thread is held, so that Go's scheduler is not in the time.
func firstAnswer(ctx context.Context, port int, word string, limit time.Duration) (time.Duration, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	begin := stamp.Now()
	for {
		page, err := ask(port)
		took := time.Duration(stamp.Now() - begin)
		if err == nil && bytes.Contains(page, []byte(word)) {
			return took, nil
		}
		if ctx.Err() != nil {
			return took, ctx.Err()
		}
		if took > limit {
			if err == nil {
				err = fmt.Errorf("someone else's answer of %d bytes", len(page))
			}
			return took, fmt.Errorf("no answer with the trial's word at the published port %d within %v: the last time %w", port, limit, err)
		}
	}
}

// A page is small, and a server that has taken a request answers in a moment.
const (
	pageLimit = 4 << 10
	askLimit  = 1 // s, for each of connecting, writing and reading
)

// ask is one request by HTTP, over a connection of its own.
func ask(port int) ([]byte, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("making a socket: %w", err)
	}
	defer unix.Close(fd)
	limit := unix.Timeval{Sec: askLimit}
	for _, o := range []int{unix.SO_RCVTIMEO, unix.SO_SNDTIMEO} {
		if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, o, &limit); err != nil {
			return nil, fmt.Errorf("limiting a socket's time: %w", err)
		}
	}
	if err := unix.Connect(fd, &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return nil, fmt.Errorf("connecting: %w", err)
	}
	if _, err := unix.Write(fd, []byte("GET / HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n")); err != nil {
		return nil, fmt.Errorf("asking: %w", err)
	}
	var page []byte
	buf := make([]byte, pageLimit)
	for len(page) < pageLimit {
		n, err := unix.Read(fd, buf)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return page, fmt.Errorf("reading the answer: %w", err)
		case n == 0:
			if len(page) == 0 {
				return nil, errors.New("the connection was closed without an answer")
			}
			return page, nil
		default:
			page = append(page, buf[:n]...)
		}
	}
	return page, nil
}
