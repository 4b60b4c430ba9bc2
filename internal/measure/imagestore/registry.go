package imagestore

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"plimsoll/internal/measure/image"

	"github.com/google/go-containerregistry/pkg/registry"
)

// Registry serves images to engines from this process, on loopback, by plain
// HTTP, and counts what it serves: the transfer is what left the registry,
// whatever an engine says of it. Only its own process can put something in.
type Registry struct {
	server *http.Server
	addr   string
	token  string
	dir    string // of layers that are being made
	inner  http.Handler

	mu       sync.Mutex
	traffic  image.Traffic
	serveErr error
	images   map[string]*image.Published
}

// StartRegistry serves from dir, which must exist and is the caller's to
// remove after Close. The port is the kernel's choice.
func StartRegistry(dir string) (*Registry, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, &Error{Text: "starting the registry of the run on loopback", Err: err}
	}
	r := &Registry{
		addr: listener.Addr().String(), token: rand.Text(), dir: dir,
		inner:   registry.New(registry.Logger(log.New(io.Discard, "", 0)), registry.WithBlobHandler(registry.NewDiskBlobHandler(dir))),
		traffic: image.Traffic{Blobs: map[string]int64{}},
		images:  map[string]*image.Published{},
	}
	r.server = &http.Server{Handler: r, ReadHeaderTimeout: 10 * time.Second, ErrorLog: log.New(io.Discard, "", 0)}
	go func() {
		if err := r.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			r.mu.Lock()
			r.serveErr = err
			r.mu.Unlock()
		}
	}()
	return r, nil
}

// Addr is HOST:PORT.
func (r *Registry) Addr() string { return r.addr }

// Close ends the registry; a transfer in flight is broken off after a second.
func (r *Registry) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	err := r.server.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = r.server.Close()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err = errors.Join(r.serveErr, err); err != nil {
		return &Error{Text: "ending the registry of the run", Err: err}
	}
	return nil
}

// Traffic is all that was served since the start.
func (r *Registry) Traffic() image.Traffic {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := image.Traffic{Requests: r.traffic.Requests, Bytes: r.traffic.Bytes, Blobs: map[string]int64{}}
	maps.Copy(t.Blobs, r.traffic.Blobs)
	return t
}

// tokenHeader marks our own requests, which are not counted and may write.
const tokenHeader = "X-Plimsoll-Token"

func (r *Registry) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if req.Header.Get(tokenHeader) == r.token {
		r.inner.ServeHTTP(w, req)
		return
	}
	if req.Method != http.MethodGet && req.Method != http.MethodHead {
		http.Error(w, "this registry can only be read", http.StatusMethodNotAllowed)
		return
	}
	c := &counter{ResponseWriter: w, registry: r}
	if _, digest, ok := strings.Cut(req.URL.Path, "/blobs/"); ok {
		c.blob = digest
	}
	r.mu.Lock()
	r.traffic.Requests++
	r.mu.Unlock()
	r.inner.ServeHTTP(c, req)
}

// counter counts a body before it is written: whoever has read the last byte
// finds it counted.
type counter struct {
	http.ResponseWriter
	registry *Registry
	blob     string
}

func (c *counter) Write(b []byte) (int, error) {
	c.add(int64(len(b)))
	n, err := c.ResponseWriter.Write(b)
	if n < len(b) {
		c.add(int64(n - len(b)))
	}
	return n, err
}

func (c *counter) add(n int64) {
	c.registry.mu.Lock()
	defer c.registry.mu.Unlock()
	c.registry.traffic.Bytes += n
	if c.blob != "" {
		c.registry.traffic.Blobs[c.blob] += n
	}
}

// ourTransport marks requests as ours.
type ourTransport struct{ token string }

func (t ourTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.Header.Set(tokenHeader, t.token)
	return direct.RoundTrip(req)
}

// direct goes to loopback without any proxy that the environment may name.
var direct = &http.Transport{Proxy: nil, DisableKeepAlives: true}

// Ref is the reference of an image in this registry. The tag is the run's
// own, so that what an engine's store holds of ours can be told by its name.
func (r *Registry) Ref(name, runID string) string {
	return fmt.Sprintf("%s/plimsoll/%s:%s", r.addr, name, cmp.Or(runID, "latest"))
}
