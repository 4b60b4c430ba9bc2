package lxd

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
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/record"
)

// daemon is a connection to one LXD or Incus.
type daemon struct {
	variant
	socket  string
	project string // where given, what every request is about
	run     string // whose things are ours
	http    *http.Client
	streams *http.Client // of an exec
}

// dial prepares clients for a socket. They send nothing yet. Connections stay
// open, so that no trial has to open one but for the streams of an exec.
func (v variant) dial(socket string) *daemon {
	return &daemon{
		variant: v, socket: socket,
		http: &http.Client{Transport: &http.Transport{
			DialContext: late(socket), MaxIdleConns: 64, MaxIdleConnsPerHost: 64, DisableCompression: true,
		}},
		streams: &http.Client{Transport: &http.Transport{DialContext: patiently(late(socket)), DisableKeepAlives: true}},
	}
}

func (d *daemon) close() { d.http.CloseIdleConnections() }

// within is the same connection, for a project.
func (d *daemon) within(project string) *daemon {
	p := *d
	p.project = project
	return &p
}

// apiError is what the daemon said instead of doing it.
type apiError struct {
	code int
	text string
}

func (e *apiError) Error() string { return e.text }

func notFound(err error) bool {
	var e *apiError
	return errors.As(err, &e) && e.code == http.StatusNotFound
}

// answer is the envelope of every answer.
type answer struct {
	Type      string
	Operation string
	ErrorCode int `json:"error_code"`
	Error     string
	Metadata  json.RawMessage
}

// operation is the course of what the daemon does in the background.
type operation struct {
	ID         string
	StatusCode int `json:"status_code"`
	Err        string
	Metadata   json.RawMessage
}

// success is an operation's status code when all went well.
const success = 200

// address is a path of the API as an URL.
func (d *daemon) address(scheme, at string, query ...string) string {
	u := url.URL{Scheme: scheme, Host: d.name, Path: at}
	q := url.Values{}
	for i := 0; i+1 < len(query); i += 2 {
		q.Set(query[i], query[i+1])
	}
	if d.project != "" {
		q.Set("project", d.project)
	}
	u.RawQuery = q.Encode()
	return u.String()
}

// send makes one request and gives the answer's envelope. Headers are pairs of
// a key and a value.
func (d *daemon) send(ctx context.Context, method, address, kind string, body io.Reader, headers ...string) (*answer, error) {
	req, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return nil, err
	}
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := d.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	a := &answer{}
	if err := json.NewDecoder(resp.Body).Decode(a); err != nil {
		return nil, fmt.Errorf("reading the answer (HTTP status %d): %w", resp.StatusCode, err)
	}
	if a.Type == "error" {
		return nil, &apiError{code: a.ErrorCode, text: a.Error}
	}
	return a, nil
}

// get reads an object.
func (d *daemon) get(ctx context.Context, at string, into any, query ...string) error {
	a, err := d.send(ctx, http.MethodGet, d.address("http", at, query...), "", nil)
	if err != nil {
		return err
	}
	return json.Unmarshal(a.Metadata, into)
}

// begin asks for something; the result is the operation's id and what it says
// of itself, where it goes on in the background.
func (d *daemon) begin(ctx context.Context, method, at string, body any) (id string, op operation, err error) {
	var r io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return "", op, err
		}
		r = bytes.NewReader(text)
	}
	a, err := d.send(ctx, method, d.address("http", at), "application/json", r)
	if err != nil || a.Type != "async" {
		return "", op, err
	}
	return operationID(a.Operation), op, json.Unmarshal(a.Metadata, &op)
}

// operationID is the last part of an operation's address, whatever follows it.
func operationID(address string) string {
	if u, err := url.Parse(address); err == nil {
		address = u.Path
	}
	return path.Base(address)
}

// wait returns when an operation has ended.
func (d *daemon) wait(ctx context.Context, id string) (operation, error) {
	var op operation
	if err := d.get(ctx, "/1.0/operations/"+id+"/wait", &op, "timeout", "-1"); err != nil {
		return op, err
	}
	if op.StatusCode != success {
		return op, &apiError{code: op.StatusCode, text: op.Err}
	}
	return op, nil
}

// call asks for something and returns when it is done.
func (d *daemon) call(ctx context.Context, method, at string, body any) error {
	id, _, err := d.begin(ctx, method, at, body)
	if err != nil || id == "" {
		return err
	}
	_, err = d.wait(ctx, id)
	return err
}

// gone says whether the daemon did not answer, or broke off in the middle.
func gone(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// wrong makes an engine.Error out of an error of the API. What is a
// participle and its object: "creating the container".
func (d *daemon) wrong(what string, err error) *engine.Error {
	if known, ok := errors.AsType[*engine.Error](err); ok {
		return known
	}
	e := &engine.Error{Class: adapter.Classify(err.Error(), patterns), Text: what, Err: err}
	switch {
	case errors.Is(err, os.ErrPermission):
		e.Class = record.Unavailable
		e.Text = fmt.Sprintf("%s: you may not talk to the daemon at %s", what, d.socket)
		e.Fix = "sudo plimsoll …, or become a member of the group that may"
	case gone(err):
		e.Class = record.Unavailable
		e.Text = fmt.Sprintf("%s: the daemon at %s does not answer", what, d.socket)
		e.Fix = "systemctl restart " + d.name
	}
	return e
}

func (d *daemon) failure(what string, err error) *record.Failure {
	return engine.FailureOf(d.wrong(what, err))
}

// patterns are pieces of the daemon's messages with what they stand for.
var patterns = []adapter.Pattern{
	{Text: "required tool", Class: record.Unavailable},
	{Text: "error loading", Class: record.Unavailable}, // a kernel module
	{Text: "image not found", Class: record.Unavailable},
	{Text: "image not provided", Class: record.Unavailable}, // what they say of one that has gone
	{Text: "failed getting image", Class: record.Unavailable},
	{Text: "not authorized", Class: record.Unavailable},
	{Text: "idmapping abilities", Class: record.Unsupported}, // a file system that can't be mounted with ids mapped
}

// seconds is a duration as the API takes it: whole ones, a part counts as one.
func seconds(d time.Duration) int { return int((d + time.Second - 1) / time.Second) }

// server is what is read of /1.0.
type server struct {
	Auth          string
	APIVersion    string   `json:"api_version"`
	APIExtensions []string `json:"api_extensions"`
	Environment   struct {
		Server             string
		ServerVersion      string `json:"server_version"`
		Driver             string
		DriverVersion      string `json:"driver_version"`
		KernelArchitecture string `json:"kernel_architecture"`
		ServerClustered    bool   `json:"server_clustered"`
		Firewall           string
		KernelFeatures     map[string]string                `json:"kernel_features"`
		Storage            []struct{ Name, Version string } `json:"storage_supported_drivers"`
	}
}

// lxcVersion is the version of liblxc; drivers stand as "lxc | qemu" with
// "5.0.2 | 7.2".
func (s *server) lxcVersion() string {
	names, versions := strings.Split(s.Environment.Driver, " | "), strings.Split(s.Environment.DriverVersion, " | ")
	if i := slices.Index(names, "lxc"); i >= 0 && i < len(versions) {
		return versions[i]
	}
	return ""
}

// storage is the version of a storage driver, and whether the daemon has it.
func (s *server) storage(driver string) (string, bool) {
	for _, d := range s.Environment.Storage {
		if d.Name == driver {
			return d.Version, true
		}
	}
	return "", false
}

// bytesOf is a size as the daemon reads it.
func bytesOf(n int64) string { return strconv.FormatInt(n, 10) }
