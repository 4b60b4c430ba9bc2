package lxd

import (
	"context"
	"io"
	"net"

	"github.com/coder/websocket"
)

type dialer func(ctx context.Context, network, at string) (net.Conn, error)

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

// told tells of what was written.
type told struct {
	io.Writer
	wrote func()
}

func (t told) Write(p []byte) (int, error) {
	n, err := t.Writer.Write(p)
	if t.wrote != nil {
		t.wrote()
	}
	return n, err
}

// follow reads a stream until its end, which is a message of text. One that
// ends in another way may have lost something.
func follow(ctx context.Context, c *websocket.Conn, to io.Writer) error {
	for {
		kind, r, err := c.Reader(ctx)
		if err != nil {
			return err
		}
		if kind == websocket.MessageText {
			return nil
		}
		if _, err := io.Copy(to, r); err != nil {
			return err
		}
	}
}
