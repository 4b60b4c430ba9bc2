package private

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"plimsoll/internal/measure/engine/thread"
)

// Relay lets what is in the network namespace of a process reach an address on
// the host's loopback under the same address, until the returned function is
// called: a daemon in a namespace of its own can't reach the run's registry
// otherwise. It copies, so a transfer through it is a little slower; say so in
// the facts.
func Relay(pid int, addr string) (stop func() error, err error) {
	listener, err := listenIn(pid, addr)
	if err != nil {
		return nil, fmt.Errorf("relaying %s to the network namespace of process %d: %w", addr, pid, err)
	}
	var conns sync.WaitGroup
	ctx, cancel := context.WithCancel(context.Background())
	conns.Go(func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return // closed
			}
			conns.Go(func() { carry(ctx, c, addr) })
		}
	})
	return func() error {
		cancel()
		err := listener.Close()
		conns.Wait()
		return err
	}, nil
}

// listenIn listens in the network namespace of a process.
func listenIn(pid int, addr string) (listener net.Listener, err error) {
	if sameNetwork(pid) {
		return nil, fmt.Errorf("it is ours")
	}
	err = thread.Own(func() error {
		ns, err := os.Open(fmt.Sprintf("/proc/%d/ns/net", pid))
		if err != nil {
			return err
		}
		defer ns.Close()
		if err := unix.Setns(int(ns.Fd()), unix.CLONE_NEWNET); err != nil {
			return err
		}
		listener, err = (&net.ListenConfig{}).Listen(context.Background(), "tcp", addr)
		return err
	})
	return listener, err
}

// sameNetwork says whether a process is in our network namespace.
func sameNetwork(pid int) bool {
	ours, err := os.Readlink("/proc/self/ns/net")
	theirs, err2 := os.Readlink(fmt.Sprintf("/proc/%d/ns/net", pid))
	return err == nil && err2 == nil && ours == theirs
}

// carry copies both ways until either side has ended.
func carry(ctx context.Context, near net.Conn, addr string) {
	defer func() { _ = near.Close() }()
	far, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return
	}
	defer func() { _ = far.Close() }()
	end := context.AfterFunc(ctx, func() {
		_ = near.Close() // the copies below end with it
		_ = far.Close()
	})
	defer end()
	var both sync.WaitGroup
	for _, way := range [][2]net.Conn{{near, far}, {far, near}} {
		both.Go(func() {
			_, _ = io.Copy(way[0], way[1]) // an end of either kind is the peer's to see
			if tcp, ok := way[0].(*net.TCPConn); ok {
				_ = tcp.CloseWrite()
			}
		})
	}
	both.Wait()
}
