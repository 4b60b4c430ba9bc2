package web

import (
	"errors"
	"net/http"
)

// Index is what /api/runs answers.
type Index struct {
	Schema  int       `json:"schema"`
	Folders []folder  `json:"folders"`
	Runs    []Summary `json:"runs"`
	// Others are directories beside the runs that hold none.
	Others []Other `json:"others"`
}

// IndexSchema is the version of Index as JSON.
const IndexSchema = 1

func (s *Server) routes() {
	m := http.NewServeMux()
	m.HandleFunc("/api/runs", s.apiRuns)
	m.HandleFunc("/api/runs/{id}", s.run(s.apiRun))
	m.HandleFunc("/api/runs/{id}/events", s.run(s.events))
	m.HandleFunc("/api/", func(w http.ResponseWriter, _ *http.Request) {
		s.fail(w, http.StatusNotFound, errors.New("there is no such address: docs/serve.md lists them all"))
	})
	m.HandleFunc("/assets/{name}", s.asset)
	m.HandleFunc("/runs/{id}", s.pageRun)
	m.HandleFunc("/{$}", s.pageRuns)
	m.HandleFunc("/favicon.ico", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	m.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		refuse(w, http.StatusNotFound, "there is no such page", "/ lists the runs")
	})
	s.mux = m
}

// run finds the run that the address names.
func (s *Server) run(then func(http.ResponseWriter, *http.Request, *place)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		p := s.listing.find(r.PathValue("id"))
		if p == nil {
			s.fail(w, http.StatusNotFound, errNoRun)
			return
		}
		then(w, r, p)
	}
}

var errNoRun = errors.New("there is no such run: /api/runs lists them all")

func (s *Server) apiRuns(w http.ResponseWriter, r *http.Request) {
	_, others, folders := s.listing.scan()
	doc, err := newDocument(Index{Schema: IndexSchema, Folders: folders, Runs: s.summaries(), Others: append([]Other{}, others...)})
	s.answer(w, r, doc, err)
}

func (s *Server) apiRun(w http.ResponseWriter, r *http.Request, p *place) {
	doc, err := s.shelf.data(p)
	s.answer(w, r, doc, err)
}
