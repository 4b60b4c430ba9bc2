//go:build linux

package agent

import "net/http"

// about says which sources of counters this machine has.
func (s *Server) about(w http.ResponseWriter, r *http.Request) {
	a, err := s.book.About(r.Context())
	reply(w, a, err)
}
