package web

import (
	"context"
	"encoding/json"
	"sync"
	"sync/atomic"
	"time"
)

// watchLeast is the least time between two looks at a run that somebody looks at.
const watchLeast = time.Second

// watcher follows one run for all who look at it.
type watcher struct {
	server *Server
	place  *place

	work   sync.Mutex // its holder may touch what follows
	live   *live
	told   Live // the last news
	entire []byte

	mu      sync.Mutex
	viewers int
	cancel  context.CancelFunc
	changed chan struct{} // closed with each revision
	news    *news         // nil before the first step
}

// news is what one revision changed.
type news struct {
	revision int
	delta    []byte
	ended    bool // nothing will change any more
}

// steps counts the looks at runs, for tests.
var steps atomic.Int64

// join begins to look at a run; leave ends it.
func (s *Server) join(p *place) *watcher {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.watchers[p.id]
	if w == nil {
		w = &watcher{server: s, place: p, changed: make(chan struct{}), live: newLive(p, s.opts.Plan)}
		s.watchers[p.id] = w
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.viewers++; w.viewers == 1 {
		ctx, cancel := context.WithCancel(context.Background())
		w.cancel = cancel
		go w.follow(ctx)
	}
	return w
}

func (w *watcher) leave() {
	s := w.server
	s.mu.Lock()
	defer s.mu.Unlock()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.viewers--; w.viewers > 0 {
		return
	}
	w.cancel()
	// What a run that goes on has read so far is of use to the next who looks.
	if w.news == nil || w.news.ended {
		delete(s.watchers, w.place.id)
	}
}

// follow looks at the run until nobody looks at it any more.
func (w *watcher) follow(ctx context.Context) {
	for first := true; ctx.Err() == nil; first = false {
		used := w.server.stopwatch()
		w.step()
		pause := w.server.least
		if !first { // which reads all that there is
			pause = max(pause, restShare*used())
		}
		rest := time.NewTimer(pause)
		select {
		case <-ctx.Done():
		case <-rest.C:
		}
		rest.Stop()
	}
}

// step looks once, and tells the viewers what there is to tell.
func (w *watcher) step() {
	steps.Add(1)
	w.work.Lock()
	defer w.work.Unlock()
	changed := w.live.step()
	written := w.live.status == running
	if written {
		w.server.hush()
	}
	charts := !w.server.shelf.documents.good(w.place.id, w.place.stamp())
	var load *Load
	if written && w.server.opts.Load != nil {
		if l, ok := w.server.opts.Load(); ok {
			load = &l
		}
	}
	if !changed && load == nil && w.told.Revision > 0 && charts == w.told.Charts {
		return
	}
	w.told, w.entire = w.live.news(load, charts), nil
	n := &news{revision: w.told.Revision, delta: encode(w.told), ended: w.told.Status == done}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.news = n
	close(w.changed)
	w.changed = make(chan struct{})
}

// whole gives the last revision to who has not seen the one before.
func (w *watcher) whole() (data []byte, revision int) {
	w.work.Lock()
	defer w.work.Unlock()
	if w.entire == nil {
		w.entire = encode(w.live.whole(w.told))
	}
	return w.entire, w.told.Revision
}

// encode gives an event's data: JSON has no line breaks.
func encode(l Live) []byte {
	b, err := json.Marshal(l)
	if err != nil { // a number that JSON has not; none is made
		return []byte(`{"problem":"encoding the event failed"}`)
	}
	return b
}

// after gives what follows a revision (0: none was seen), nil where nothing
// does yet, and what is closed when something does.
func (w *watcher) after(revision int) (n *news, more <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.news == nil || w.news.revision == revision {
		return nil, w.changed
	}
	return w.news, w.changed
}
