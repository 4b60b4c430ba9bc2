package web

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"sync"
	"time"

	"plimsoll/internal/record"
)

// Options are for New.
type Options struct {
	// Dirs are runs, or folders of runs.
	Dirs []string
	// Plan gives the plan of a run that goes on; nil, or an error, leaves
	// unknown how many trials there will be and which is next.
	Plan func(*record.Run) (Plan, error)
	// Load says how busy this machine is; nil: it is not known.
	Load func() (Load, bool)
	// Quiet is called once, when the first run is found that is being written:
	// from then on nothing here may disturb.
	Quiet func()
	// Used is the processor time that this process has used; nil: what has
	// passed is taken for it.
	Used func() time.Duration
	// Log gets what went wrong while serving; nil: nobody does.
	Log io.Writer
}

// Plan is the trials of a run in their order, done or not.
type Plan interface {
	Trials() int
	// Trial gives the trial at a place from 0 to Trials()-1. Blocks count from
	// 0, those that warm up first.
	Trial(seq int) (env, workload string, block int, warmup bool)
}

// Load is how busy the machine is, over about the last second.
type Load struct {
	Busy    float64 `json:"busy"`    // share of all processors, from 0 to 1
	Steal   float64 `json:"steal"`   // share that the hypervisor took
	Running int64   `json:"running"` // threads that run or want to
	// Waiting is the share of time in which some thread waited for a processor;
	// nil where the kernel has no pressure stall information.
	Waiting *float64 `json:"waiting,omitempty"`
}

// Server serves some folders of runs.
type Server struct {
	opts    Options
	listing listing
	shelf   shelf
	mux     *http.ServeMux
	log     *log.Logger

	least time.Duration // between two looks at a run
	quiet sync.Once
	done  chan struct{} // closed at the end: event streams end then
	end   sync.Once

	mu       sync.Mutex
	watchers map[string]*watcher
	viewers  int
}

// New makes a server of these folders. It reads nothing yet.
func New(o Options) (*Server, error) {
	s := &Server{opts: o, done: make(chan struct{}), watchers: map[string]*watcher{}, least: watchLeast}
	if o.Log == nil {
		s.opts.Log = io.Discard
	}
	s.log = log.New(s.opts.Log, "", 0)
	for _, dir := range o.Dirs {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return nil, fmt.Errorf("serving %s: %w", dir, err)
		}
		s.listing.folders = append(s.listing.folders, folder{ID: idOf(abs), Name: dir, path: abs})
	}
	s.shelf.init(s)
	s.routes()
	return s, nil
}

// restShare is how many times as long as something took it rests before it is
// done again while a run goes on: looks at the record and building the charts'
// data take less than a hundredth of a processor together.
const restShare = 200

// stopwatch gives what says how much processor time has been used since.
func (s *Server) stopwatch() func() time.Duration {
	if s.opts.Used == nil {
		begin := time.Now()
		return func() time.Duration { return time.Since(begin) }
	}
	begin := s.opts.Used()
	return func() time.Duration { return s.opts.Used() - begin }
}

// hush steps back for a run that is being measured.
func (s *Server) hush() {
	if s.opts.Quiet != nil {
		s.quiet.Do(s.opts.Quiet)
	}
}

// Limits of a connection.
const (
	headerTime = 5 * time.Second
	readTime   = 10 * time.Second
	writeTime  = time.Minute
	idleTime   = 2 * time.Minute
	closeTime  = 3 * time.Second
	maxHeader  = 16 << 10
)

// Serve answers at the listener until the context ends, and then lets go of
// all. asked is the host that the user asked for, such as "127.0.0.1". ready is
// told the address to open in a browser.
func (s *Server) Serve(ctx context.Context, l net.Listener, asked string, ready func(address string)) error {
	g, err := newGuard(l.Addr(), asked)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	h := &http.Server{
		Handler: g.wrap(s.mux), ErrorLog: s.log,
		ReadHeaderTimeout: headerTime, ReadTimeout: readTime, WriteTimeout: writeTime, IdleTimeout: idleTime, MaxHeaderBytes: maxHeader,
	}
	ended := make(chan error, 1)
	go func() { ended <- h.Serve(l) }()
	ready(g.address())
	select {
	case err = <-ended:
	case <-ctx.Done():
	}
	s.Close()
	stop, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	if h.Shutdown(stop) != nil {
		err = errors.Join(err, h.Close())
	}
	if err != nil && !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving: %w", err)
	}
	return nil
}

// Close ends all event streams.
func (s *Server) Close() { s.end.Do(func() { close(s.done) }) }

// newToken draws what lets in those who were told.
func newToken() string {
	b := make([]byte, 24)
	_, _ = rand.Read(b) // it never fails: the program ends instead
	return base64.RawURLEncoding.EncodeToString(b)
}

// address is what the user opens: with the token, where there is one.
func (g *guard) address() string {
	u := url.URL{Scheme: "http", Host: g.shown, Path: "/"}
	if g.token != "" {
		u.RawQuery = url.Values{"token": {g.token}}.Encode()
	}
	return u.String()
}
