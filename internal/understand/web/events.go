package web

import (
	"fmt"
	"net/http"
	"time"
)

// Bounds of event streams.
const (
	maxViewers = 64
	// stillAlive is how often an event stream says something, so that who has
	// gone is noticed.
	stillAlive = 15 * time.Second
	sendTime   = 20 * time.Second
)

// events follows a run (server-sent events, the WHATWG's HTML standard, 9.2).
func (s *Server) events(w http.ResponseWriter, r *http.Request, p *place) {
	if _, err := p.open(); err != nil {
		s.fail(w, http.StatusUnprocessableEntity, err)
		return
	}
	s.mu.Lock()
	full := s.viewers >= maxViewers
	if !full {
		s.viewers++
	}
	s.mu.Unlock()
	if full {
		s.fail(w, http.StatusServiceUnavailable, fmt.Errorf("%d viewers are the most: close some pages", maxViewers))
		return
	}
	defer func() {
		s.mu.Lock()
		s.viewers--
		s.mu.Unlock()
	}()
	h := w.Header()
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	if r.Method == http.MethodHead {
		return
	}
	out := http.NewResponseController(w)
	send := func(format string, args ...any) bool {
		_ = out.SetWriteDeadline(time.Now().Add(sendTime)) // a recorder has none
		_, err := fmt.Fprintf(w, format, args...)
		return err == nil && out.Flush() == nil
	}
	watched := s.join(p)
	defer watched.leave()
	alive := time.NewTicker(stillAlive)
	defer alive.Stop()
	seen := 0
	for {
		n, more := watched.after(seen)
		if n != nil {
			data := n.delta
			if seen++; n.revision != seen || seen == 1 {
				data, seen = watched.whole()
			}
			if !send("id: %d\nevent: live\ndata: %s\n\n", seen, data) {
				return
			}
			if n.ended {
				send("event: end\ndata: {}\n\n")
				return
			}
			continue
		}
		select {
		case <-more:
		case <-alive.C:
			if !send(": still here\n\n") {
				return
			}
		case <-r.Context().Done():
			return
		case <-s.done:
			send("event: end\ndata: {\"closing\":true}\n\n")
			return
		}
	}
}
