//go:build linux

package agent

import (
	"errors"
	"net/http"
)

// end closes a window and says what was counted in it.
func (s *Server) end(w http.ResponseWriter, r *http.Request) {
	var ask EndAsk
	if !read(w, r, &ask) {
		return
	}
	a, err := s.book.End(r.Context(), ask)
	switch {
	case errors.Is(err, errUnknown):
		refuse(w, http.StatusNotFound, err.Error())
	case err != nil:
		refuse(w, http.StatusInternalServerError, err.Error())
	default:
		answer(w, http.StatusOK, a)
	}
}
