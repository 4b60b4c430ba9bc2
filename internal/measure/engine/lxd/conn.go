package lxd

import (
	"context"
	"net"
	"os"
	"sync"
	"time"
)

type dialer func(ctx context.Context, network, at string) (net.Conn, error)

// late dials connections that are made when something is sent by them. The
// daemon takes no further connection until it has read the first bytes of the
// last one (it looks for STARTTLS), and an HTTP client keeps connections that
// it has dialled and then not needed, since another one had become free: one of
// these would stop the daemon, and the hooks of its own that ask it.
func late(socket string) dialer {
	return func(context.Context, string, string) (net.Conn, error) {
		return &lateConn{socket: socket, ready: make(chan struct{})}, nil
	}
}

type lateConn struct {
	socket string
	once   sync.Once
	conn   net.Conn
	err    error
	ready  chan struct{} // closed when connected, or at the end
	end    sync.Once
}

// Write connects where it is the first.
func (c *lateConn) Write(p []byte) (int, error) {
	c.once.Do(func() {
		if c.conn, c.err = net.Dial("unix", c.socket); c.err == nil {
			c.readable()
		}
	})
	if c.err != nil {
		return 0, c.err
	}
	return c.conn.Write(p)
}

func (c *lateConn) readable() { c.end.Do(func() { close(c.ready) }) }

// Read waits for the connection, or for Close where there is none to be had.
func (c *lateConn) Read(p []byte) (int, error) {
	<-c.ready
	if c.conn == nil {
		return 0, c.err
	}
	return c.conn.Read(p)
}

// Close ends Read too.
func (c *lateConn) Close() error {
	c.once.Do(func() { c.err = net.ErrClosed })
	c.readable()
	if c.conn == nil {
		return nil
	}
	return c.conn.Close()
}

func (c *lateConn) LocalAddr() net.Addr              { return &net.UnixAddr{Net: "unix"} }
func (c *lateConn) RemoteAddr() net.Addr             { return &net.UnixAddr{Net: "unix", Name: c.socket} }
func (c *lateConn) SetDeadline(time.Time) error      { return os.ErrNoDeadline }
func (c *lateConn) SetReadDeadline(time.Time) error  { return os.ErrNoDeadline }
func (c *lateConn) SetWriteDeadline(time.Time) error { return os.ErrNoDeadline }

// patiently dials connections whose reader gets all that the other side sent
// before it closed. The daemon pings when a stream is connected; read after the
// program's end, as happens on a busy machine, the ping can't be answered any
// more, and the library would give up the connection with the output in it.
func patiently(dial dialer) dialer {
	return func(ctx context.Context, network, at string) (net.Conn, error) {
		c, err := dial(ctx, network, at)
		if err != nil {
			return nil, err
		}
		return patient{c}, nil
	}
}

type patient struct{ net.Conn }

// Write never fails: that nobody is there shows when all has been read.
func (c patient) Write(p []byte) (int, error) {
	_, _ = c.Conn.Write(p)
	return len(p), nil
}
