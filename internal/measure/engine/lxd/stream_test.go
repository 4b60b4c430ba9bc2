package lxd

import (
	"crypto/sha1"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/apirun"
	"plimsoll/internal/record"
)

// Frames as a daemon sends them.
const (
	ping   = "\x89\x09keepalive"
	said   = "\x82\x05hello"
	theEnd = "\x81\x00"
)

// TestStream: what a daemon sent is read however soon it has closed the
// connection, and a stream without its end is no empty output.
func TestStream(t *testing.T) {
	for _, c := range []struct {
		name, out, want string
		class           record.Class
	}{
		{"read late", ping + said + ping + theEnd, "hello", ""},
		{"nothing printed", ping + theEnd, "", ""},
		{"broken off", ping + said, "hello", record.EngineError},
		{"broken off before it began", "", "", record.EngineError},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := New().dial(deaf(t, c.out))
			l := apirun.NewLife(engine.Task{Name: "c", Argv: []string{"/p"}, Limit: 10 * time.Second})
			x, err := d.exec(t.Context(), "c", &l, nil)
			require.NoError(t, err)
			defer x.close()
			err = l.Await(t.Context())
			if got := string(l.Stdout.Kept()); got != c.want {
				t.Errorf("read %q, want %q", got, c.want)
			}
			var e *engine.Error
			if (err == nil) != (c.class == "") || err != nil && (!errors.As(err, &e) || e.Class != c.class) {
				t.Errorf("%v, want class %q", err, c.class)
			}
		})
	}
}

// deaf is a daemon whose program has ended when its streams are connected: it
// reads nothing from them, so that whoever answers a ping gets an error.
func deaf(t *testing.T, out string) (socket string) {
	t.Helper()
	socket = filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", socket)
	require.NoError(t, err)
	mux := http.NewServeMux()
	mux.HandleFunc("POST /1.0/instances/c/exec", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"type": "async", "operation": "/1.0/operations/op",
			"metadata": {"id": "op", "metadata": {"fds": {"0": "in", "1": "out", "2": "err"}}}}`)
	})
	mux.HandleFunc("GET /1.0/operations/op/wait", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"type": "sync", "metadata": {"status_code": 200, "metadata": {"return": 0}}}`)
	})
	mux.HandleFunc("GET /1.0/operations/op/websocket", func(w http.ResponseWriter, r *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		key := sha1.Sum([]byte(r.Header.Get("Sec-WebSocket-Key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11")) // RFC 6455
		frames := map[string]string{"in": "", "out": out, "err": ping + theEnd}[r.FormValue("secret")]
		err = conn.(*net.UnixConn).CloseRead()
		if err == nil {
			_, err = conn.Write([]byte(strings.Join([]string{"HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade",
				"Sec-WebSocket-Accept: " + base64.StdEncoding.EncodeToString(key[:]), "", frames}, "\r\n")))
		}
		if err != nil {
			t.Error(err)
		}
	})
	srv := &http.Server{Handler: mux, ReadHeaderTimeout: time.Second}
	go func() { _ = srv.Serve(l) }() // until it is closed
	t.Cleanup(func() { _ = srv.Close() })
	return socket
}
