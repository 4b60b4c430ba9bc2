package lxd

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"plimsoll/internal/common/require"
)

// TestNoSilentConnection: a daemon that reads of each connection before it
// takes the next is never left waiting.
func TestNoSilentConnection(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", socket)
	require.NoError(t, err)
	srv := &http.Server{ReadHeaderTimeout: 10 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"type": "sync", "metadata": {}}`)
	})}
	go func() { _ = srv.Serve(peeking{l}) }() // until it is closed
	t.Cleanup(func() { _ = srv.Close() })
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	d := New().dial(socket)
	defer d.close()
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for range 20 {
				if err := d.get(ctx, "/1.0", &server{}); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	// The client dials one that it then does not need.
	idle, err := d.http.Transport.(*http.Transport).DialContext(ctx, "", "")
	require.NoError(t, err)
	defer idle.Close()
	if _, err := bufio.NewReader(another(ctx, t, socket)).ReadString('\n'); err != nil {
		t.Errorf("another client is not answered: %v", err)
	}
}

// another asks as other clients do.
func another(ctx context.Context, t *testing.T, socket string) net.Conn {
	t.Helper()
	c, err := (&net.Dialer{}).DialContext(ctx, "unix", socket)
	if err == nil {
		t.Cleanup(func() { _ = c.Close() })
		_ = c.SetDeadline(time.Now().Add(20 * time.Second))
		_, err = fmt.Fprint(c, "GET /1.0 HTTP/1.0\r\n\r\n")
	}
	require.NoError(t, err)
	return c
}

// peeking accepts as the daemons do.
type peeking struct{ net.Listener }

func (l peeking) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	b := bufio.NewReader(c)
	_, _ = b.Peek(8) // an error shows again when the request is read
	return peeked{c, b}, nil
}

type peeked struct {
	net.Conn
	b *bufio.Reader
}

func (c peeked) Read(p []byte) (int, error) { return c.b.Read(p) }
