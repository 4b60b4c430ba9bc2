package podman

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/record"
)

// rest is Podman's REST service, spoken to as podman-remote does: by the
// libpod endpoints of it.
type rest struct {
	socket string
	http   *http.Client
}

// restVersion is the version of the API that is asked for: what Podman 4 and 5
// both have.
const restVersion = "/v4.0.0/libpod"

func newRest(socket string) *rest {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", socket)
	}
	// A wait keeps one connection busy while others go on.
	return &rest{socket: socket, http: &http.Client{Transport: &http.Transport{
		DialContext: dial, MaxIdleConnsPerHost: 4, DisableCompression: true}}}
}

func (r *rest) close() { r.http.CloseIdleConnections() }

// refused is an answer that says no.
type refused struct {
	status int
	said   string
}

func (e *refused) Error() string { return e.said }

// maxAnswer bounds what is read of an answer, in bytes.
const maxAnswer = 4 << 20

// call sends a request and decodes the answer into what into points to, where
// that is not nil. An answer of 300 and above is a *refused.
func (r *rest) call(ctx context.Context, method, path string, query url.Values, body []byte, into any) error {
	req, err := http.NewRequestWithContext(ctx, method, "http://d"+restVersion+path+"?"+query.Encode(), bytes.NewReader(body))
	if err != nil {
		return err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	answer, err := r.http.Do(req)
	if err != nil {
		if ue, ok := errors.AsType[*url.Error](err); ok { // its text is the whole address
			err = ue.Err
		}
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if err != nil {
		return err
	}
	if answer.StatusCode >= http.StatusMultipleChoices {
		return refusal(answer.StatusCode, text)
	}
	if into == nil {
		return nil
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("reading what podman's service answered to %s: %w", path, err)
	}
	return nil
}

func refusal(status int, text []byte) error {
	var said struct{ Message string }
	if json.Unmarshal(text, &said) != nil || said.Message == "" {
		said.Message = strings.TrimSpace(string(text))
	}
	return &refused{status: status, said: fmt.Sprintf("status %d: %s", status, said.Message)}
}

// answers says whether the service is there.
func (r *rest) answers(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	return r.call(ctx, http.MethodGet, "/_ping", nil, nil, nil)
}

func (r *rest) info(ctx context.Context) (*info, error) {
	ctx, cancel := context.WithTimeout(ctx, commandLimit)
	defer cancel()
	var i info
	if err := r.call(ctx, http.MethodGet, "/info", nil, nil, &i); err != nil {
		return nil, restWrong("asking podman's service at "+r.socket+" for its state", err)
	}
	return &i, nil
}

// restWrong makes an engine.Error. What is a participle and its object.
func restWrong(what string, err error) *engine.Error {
	return &engine.Error{Class: restClass(err), Text: what, Err: err}
}

func restClass(err error) record.Class {
	var no *refused
	var lost *net.OpError
	switch {
	case errors.As(err, &no):
		return adapter.Classify(no.said, patterns)
	case errors.Is(err, context.DeadlineExceeded):
		return record.TimeOut
	case errors.As(err, &lost), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return record.Unavailable
	}
	return record.EngineError
}
