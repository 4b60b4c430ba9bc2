//go:build linux

package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"time"
	"unicode"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// asking is a terminal where somebody can be asked.
type asking struct{ in *os.File }

// askingHere is the terminal of standard input, where what is asked on standard error is
// read too and this process may read: one in the background would be stopped for it.
func askingHere(w World) (asking, bool) {
	f, ok := w.Stdin.(*os.File)
	if !ok || !barHere(w) || !term.IsTerminal(int(f.Fd())) {
		return asking{}, false
	}
	front, err := unix.IoctlGetInt(int(f.Fd()), unix.TIOCGPGRP)
	return asking{f}, err == nil && front == unix.Getpgrp()
}

// key waits for one of these keys, small letters, without an Enter behind it. Ctrl-C goes
// on being a signal, which ends ctx.
func (a asking) key(ctx context.Context, of string) (rune, error) {
	fd := int(a.in.Fd())
	was, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	if err != nil {
		return 0, err
	}
	now := *was
	now.Lflag &^= unix.ICANON | unix.ECHO
	if err := unix.IoctlSetTermios(fd, unix.TCSETS, &now); err != nil {
		return 0, err
	}
	defer func() { _ = unix.IoctlSetTermios(fd, unix.TCSETS, was) }() // of a terminal that is gone nothing is left to set
	for one := make([]byte, 1); ; {
		ready := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}} //nolint:gosec // descriptors are small
		n, err := unix.Poll(ready, int(askEvery.Milliseconds()))
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
		if n == 0 || errors.Is(err, unix.EINTR) {
			continue
		}
		if n, err = unix.Read(fd, one); n < 1 { // the terminal is gone
			return 0, errors.Join(io.ErrUnexpectedEOF, err)
		}
		if key := unicode.ToLower(rune(one[0])); strings.ContainsRune(of, key) {
			return key, nil
		}
	}
}

// askEvery is how soon an interruption is noticed while somebody is asked.
const askEvery = 100 * time.Millisecond
