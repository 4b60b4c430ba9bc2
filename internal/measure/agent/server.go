//go:build linux

package agent

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"time"
)

// Server is a book behind HTTPS.
type Server struct {
	book  *Book
	token string
	http  *http.Server
}

// NewServer puts a book behind HTTPS. Handshakes that fail are told to errors.
func NewServer(b *Book, cert tls.Certificate, token string, errs io.Writer) *Server {
	s := &Server{book: b, token: token}
	s.http = &http.Server{
		Handler:   s.handler(),
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS13},
		// Who connects and says nothing is let go of. An answer may take as long
		// as the readings do.
		ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 20 * time.Second, WriteTimeout: time.Minute, IdleTimeout: longestWindow,
		MaxHeaderBytes: 8 << 10,
		ErrorLog:       log.New(errs, "", 0),
	}
	return s
}

// Serve answers until the context ends.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	stop := context.AfterFunc(ctx, func() { _ = s.http.Close() }) // Serve tells
	defer stop()
	err := s.http.ServeTLS(l, "", "")
	if errors.Is(err, http.ErrServerClosed) && ctx.Err() != nil {
		return nil
	}
	return err
}

// handler lists what is answered, each in a file of its own.
func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+pathAbout, s.about)
	mux.HandleFunc("GET "+pathClock, s.clock)
	mux.HandleFunc("POST "+pathBegin, s.begin)
	mux.HandleFunc("POST "+pathEnd, s.end)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-store")
		if !bears(r, s.token) {
			w.Header().Set("WWW-Authenticate", "Bearer")
			refuse(w, http.StatusUnauthorized, "the token is missing or wrong")
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, mostAsked)
		mux.ServeHTTP(w, r)
	})
}

// read takes a request's body; where it is none, the refusal has been sent.
func read(w http.ResponseWriter, r *http.Request, into any) bool {
	b, err := io.ReadAll(r.Body)
	var long *http.MaxBytesError
	switch {
	case errors.As(err, &long):
		refuse(w, http.StatusRequestEntityTooLarge, "the request is longer than 4 KiB")
		return false
	case err != nil:
		return false // the client is gone
	}
	if err := json.Unmarshal(b, into); err != nil {
		refuse(w, http.StatusBadRequest, "the body is not the JSON that is expected: "+err.Error())
		return false
	}
	return true
}

// reply answers with what the book has given, or with why it has not.
func reply(w http.ResponseWriter, v any, err error) {
	switch {
	case errors.Is(err, errFull):
		refuse(w, http.StatusTooManyRequests, err.Error())
	case errors.Is(err, errUnknown):
		refuse(w, http.StatusNotFound, err.Error())
	case err != nil:
		refuse(w, http.StatusInternalServerError, err.Error())
	default:
		answer(w, http.StatusOK, v)
	}
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // who has gone needs no answer
}

func refuse(w http.ResponseWriter, status int, why string) { answer(w, status, refusal{why}) }

// about says which sources of counters this machine has.
func (s *Server) about(w http.ResponseWriter, r *http.Request) {
	a, err := s.book.About(r.Context())
	reply(w, a, err)
}

// clock tells the time and does nothing else, so that a round trip is short.
func (s *Server) clock(w http.ResponseWriter, _ *http.Request) {
	answer(w, http.StatusOK, s.book.clock())
}
