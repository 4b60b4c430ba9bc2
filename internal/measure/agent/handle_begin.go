//go:build linux

package agent

import "net/http"

// begin opens a window. It answers when the counters have been read: what the
// client does after the answer is in the window.
func (s *Server) begin(w http.ResponseWriter, r *http.Request) {
	var ask BeginAsk
	if !read(w, r, &ask) {
		return
	}
	if ask.Run == "" || len(ask.Run) > 64 || len(ask.Job) > 256 {
		refuse(w, http.StatusBadRequest, "a window needs a run of at most 64 characters, and a job has at most 256")
		return
	}
	a, err := s.book.Begin(r.Context(), ask)
	reply(w, a, err)
}
