package podman

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"time"
)

// takeOver sends a request on a connection of its own, which the service uses
// for a program's output after its answer. It lives until ctx is over.
func (r *rest) takeOver(ctx context.Context, path string, body []byte) (net.Conn, io.Reader, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", r.socket)
	if err != nil {
		return nil, nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	fail := func(err error) (net.Conn, io.Reader, error) {
		stop()
		return nil, nil, errors.Join(err, conn.Close())
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://d"+restVersion+path, bytes.NewReader(body))
	if err != nil {
		return fail(err)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("Connection", "Upgrade")
	req.Header.Set("Upgrade", "tcp")
	if err := req.Write(conn); err != nil {
		return fail(err)
	}
	in := bufio.NewReader(conn)
	answer, err := http.ReadResponse(in, req)
	if err != nil {
		return fail(err)
	}
	if answer.StatusCode != http.StatusSwitchingProtocols && answer.StatusCode != http.StatusOK {
		var text [4096]byte
		n, _ := answer.Body.Read(text[:])
		return fail(errors.Join(refusal(answer.StatusCode, text[:n]), answer.Body.Close()))
	}
	return conn, in, nil
}
