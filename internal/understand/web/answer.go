package web

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// answer sends a document, or says why there is none.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, doc *document, err error) {
	if err != nil {
		s.fail(w, http.StatusUnprocessableEntity, err)
		return
	}
	h := w.Header()
	h.Set("ETag", doc.tag)
	h.Set("Vary", "Accept-Encoding")
	if slices.Contains(strings.FieldsFunc(r.Header.Get("If-None-Match"), func(c rune) bool { return c == ',' || c == ' ' }), doc.tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", "application/json")
	if accepts(r, "gzip") {
		h.Set("Content-Encoding", "gzip")
		h.Set("Content-Length", strconv.Itoa(len(doc.zipped)))
		_, _ = w.Write(doc.zipped) // who has gone needs no answer
		return
	}
	z, err := gzip.NewReader(bytes.NewReader(doc.zipped))
	if err != nil {
		s.log.Print("unpacking an answer: ", err)
		return
	}
	_, _ = io.Copy(w, z)
}

// accepts says whether a client takes an encoding.
func accepts(r *http.Request, encoding string) bool {
	for part := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		name, weight, _ := strings.Cut(strings.TrimSpace(part), ";")
		if strings.EqualFold(name, encoding) && strings.Trim(strings.ReplaceAll(weight, " ", ""), "0.") != "q=" {
			return true
		}
	}
	return false
}

// fail says as JSON what was wrong.
func (s *Server) fail(w http.ResponseWriter, status int, err error) {
	b, _ := json.Marshal(struct {
		Error string `json:"error"`
	}{err.Error()}) // a string has no way to fail
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(b)))
	w.WriteHeader(status)
	_, _ = w.Write(b)
}
