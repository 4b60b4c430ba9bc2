package lxd

import (
	"context"
	"io"

	"github.com/coder/websocket"
)

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
