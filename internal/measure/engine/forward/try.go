package forward

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// ErrUntried is for namespaces in which we can't do what a container does: those
// of others, and sandboxes with a network stack of their own.
var ErrUntried = errors.New("it can't be tried")

// tryLimit is how long a connection may take that needs microseconds: the kernel
// sends its first packet again after a second.
const tryLimit = 2500 * time.Millisecond

// Try connects from one network namespace to an address in another, and sends a
// word, as a program in a container would. Namespaces are files; "" is our own.
// An error that is not ErrUntried says that it did not work.
func Try(ctx context.Context, from, to string, address netip.Addr) error {
	untried := func(err error) error { return fmt.Errorf("%w: %w", ErrUntried, err) }
	var l net.Listener
	err := within(to, func() (err error) {
		l, err = (&net.ListenConfig{}).Listen(ctx, "tcp4", netip.AddrPortFrom(address, 0).String())
		return err
	})
	if err != nil {
		return untried(err)
	}
	defer l.Close()
	word := rand.Text()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return // it is closed
			}
			_ = c.SetDeadline(time.Now().Add(tryLimit))
			_, _ = io.WriteString(c, word) // the other side says whether it came
			_ = c.Close()
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, tryLimit)
	defer cancel()
	entered := false
	var c net.Conn
	err = within(from, func() (err error) {
		entered = true
		c, err = (&net.Dialer{}).DialContext(ctx, "tcp4", l.Addr().String())
		return err
	})
	switch {
	case !entered:
		return untried(err)
	case err != nil:
		return err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(tryLimit))
	got, err := io.ReadAll(c)
	if string(got) != word && err == nil {
		err = fmt.Errorf("another one answers at %s: %q", address, got)
	}
	return err
}

// within does something on a thread in a network namespace. A socket stays in
// the namespace that it was made in.
func within(path string, do func() error) error {
	if path == "" {
		return do()
	}
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		back, err := inside(path, do)
		if back { // else the thread ends with the goroutine
			runtime.UnlockOSThread()
		}
		done <- err
	}()
	return <-done
}

// inside must be called on a locked thread; back says that it is where it was.
func inside(path string, do func() error) (back bool, err error) {
	own, err := os.Open("/proc/thread-self/ns/net")
	if err != nil {
		return true, err
	}
	defer own.Close()
	there, err := os.Open(path)
	if err != nil {
		return true, err
	}
	defer there.Close()
	if err := unix.Setns(int(there.Fd()), unix.CLONE_NEWNET); err != nil {
		return true, fmt.Errorf("entering the network namespace %s: %w", path, err)
	}
	err = do()
	return unix.Setns(int(own.Fd()), unix.CLONE_NEWNET) == nil, err
}

// Bridge is the bridge of this machine in whose network an address lies; ""
// where there is none.
func Bridge(address netip.Addr) string {
	links, _ := net.Interfaces()
	for _, link := range links {
		if _, err := os.Stat(filepath.Join("/sys/class/net", link.Name, "bridge")); err != nil {
			continue
		}
		addrs, _ := link.Addrs()
		for _, a := range addrs {
			if p, err := netip.ParsePrefix(a.String()); err == nil && p.Masked().Contains(address) {
				return link.Name
			}
		}
	}
	return ""
}
