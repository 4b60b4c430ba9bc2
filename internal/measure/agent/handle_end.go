//go:build linux

package agent

import "net/http"

// end closes a window and says what was counted in it.
func (s *Server) end(w http.ResponseWriter, r *http.Request) {
	var ask EndAsk
	if !read(w, r, &ask) {
		return
	}
	a, err := s.book.End(r.Context(), ask)
	reply(w, a, err)
}
