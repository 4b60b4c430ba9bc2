package features

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	store "github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"plimsoll/internal/measure/engine/charliecloud"
)

// registry is a registry on loopback that can be written to, which the one of
// a measurement can't; it counts what leaves it and can hold a blob back in
// the middle. It answers by plain HTTP and, on another port, by TLS.
type registry struct {
	inner         http.Handler
	servers       []*http.Server
	addr, tlsAddr string

	mu    sync.Mutex
	sent  int64
	holds map[string]*hold // by digest
}

// hold stops a blob at its half.
type hold struct {
	half    int64
	reached chan struct{} // closed when the half has left
	release chan struct{}
	once    sync.Once
}

func startRegistry(dir string) (*registry, error) {
	r := &registry{
		inner: store.New(store.Logger(log.New(io.Discard, "", 0)), store.WithBlobHandler(store.NewDiskBlobHandler(dir))),
		holds: map[string]*hold{},
	}
	plain, err := r.serve()
	if err != nil {
		return nil, err
	}
	cert, err := charliecloud.Certificate()
	if err != nil {
		return nil, errors.Join(err, r.close())
	}
	secure, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, errors.Join(err, r.close())
	}
	r.addr, r.tlsAddr = plain, secure.Addr().String()
	r.start(tls.NewListener(secure, &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}))
	return r, nil
}

func (r *registry) serve() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	r.start(l)
	return l.Addr().String(), nil
}

func (r *registry) start(l net.Listener) {
	s := &http.Server{Handler: r, ReadHeaderTimeout: 10 * time.Second, ErrorLog: log.New(io.Discard, "", 0)}
	r.servers = append(r.servers, s)
	go func() { _ = s.Serve(l) }() // it ends by close, and a client sees whatever else
}

func (r *registry) close() error {
	var errs []error
	for _, s := range r.servers {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}

func (r *registry) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	w = &absolute{ResponseWriter: w, req: req}
	if req.Method == http.MethodGet {
		c := &sender{ResponseWriter: w, registry: r, ctx: req.Context()}
		if _, digest, ok := strings.Cut(req.URL.Path, "/blobs/"); ok {
			r.mu.Lock()
			c.hold = r.holds[digest]
			r.mu.Unlock()
		}
		w = c
	}
	r.inner.ServeHTTP(w, req)
}

// absolute makes an address that is told whole: ch-image takes no other.
type absolute struct {
	http.ResponseWriter
	req *http.Request
}

func (a *absolute) WriteHeader(status int) {
	if at := a.Header().Get("Location"); strings.HasPrefix(at, "/") {
		scheme := "http"
		if a.req.TLS != nil {
			scheme = "https"
		}
		a.Header().Set("Location", scheme+"://"+a.req.Host+at)
	}
	a.ResponseWriter.WriteHeader(status)
}

func (a *absolute) Flush() { _ = http.NewResponseController(a.ResponseWriter).Flush() } // without it the rest is held, too

// sender counts a body before it is written.
type sender struct {
	http.ResponseWriter
	registry *registry
	ctx      context.Context
	hold     *hold
	written  int64
}

func (s *sender) Write(p []byte) (int, error) {
	sum := 0
	for len(p) > 0 {
		part := p
		if h := s.hold; h != nil {
			if left := h.half - s.written; left > 0 && int64(len(part)) > left {
				part = part[:left]
			} else if left <= 0 {
				if f, ok := s.ResponseWriter.(http.Flusher); ok {
					f.Flush()
				}
				h.once.Do(func() { close(h.reached) })
				select {
				case <-h.release:
				case <-s.ctx.Done():
					return sum, s.ctx.Err()
				}
			}
		}
		s.registry.mu.Lock()
		s.registry.sent += int64(len(part))
		s.registry.mu.Unlock()
		n, err := s.ResponseWriter.Write(part)
		s.written += int64(n)
		sum += n
		if err != nil {
			return sum, err
		}
		p = p[len(part):]
	}
	return sum, nil
}

// served is how many bytes of bodies have left since the start.
func (r *registry) served() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.sent
}

// holdBack holds a blob at half of its size until the result is called.
func (r *registry) holdBack(digest string, size int64) (*hold, func()) {
	h := &hold{half: size / 2, reached: make(chan struct{}), release: make(chan struct{})}
	r.mu.Lock()
	r.holds[digest] = h
	r.mu.Unlock()
	return h, sync.OnceFunc(func() {
		r.mu.Lock()
		delete(r.holds, digest)
		r.mu.Unlock()
		close(h.release)
	})
}

// put writes an image in, without a proxy that the environment may name.
func (r *registry) put(ctx context.Context, repo string, img v1.Image) error {
	ref, err := name.ParseReference(r.addr+"/"+repo, name.Insecure)
	if err != nil {
		return err
	}
	return remote.Write(ref, img, remote.WithContext(ctx), remote.WithTransport(&http.Transport{Proxy: nil, DisableKeepAlives: true}))
}
