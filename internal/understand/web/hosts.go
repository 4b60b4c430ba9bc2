package web

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze/evaluate"
	"plimsoll/internal/understand/analyze/factors"
	"plimsoll/internal/understand/analyze/hosts"
	"plimsoll/internal/understand/page"
)

// together is what the hosts of a fleet say together, and its page.
type together struct {
	mu    sync.Mutex
	state string // of the runs that it was made of
	runs  string // which those were, and what their run.json was
	until time.Time
	doc   *document
	page  []byte
	err   error
}

// errNoFleet says that what was asked for is not of several hosts.
var errNoFleet = errors.New("this folder has no runs of several hosts of this study: /api/runs lists them")

// fleet finds what a request asks for.
func (s *Server) fleet(q url.Values) (Fleet, error) {
	_, _, folders := s.listing.scan()
	for _, f := range fleets(s.summaries(), folders) {
		if f.Folder == q.Get("dir") && f.Study == q.Get("study") && f.Scale == q.Get("scale") {
			return f, nil
		}
	}
	return Fleet{}, errNoFleet
}

// hasFellows says whether other hosts have run the study of this run too, in its folder.
func (s *Server) hasFellows(run string) bool {
	_, _, folders := s.listing.scan()
	return slices.ContainsFunc(fleets(s.summaries(), folders), func(f Fleet) bool { return slices.Contains(f.Runs, run) })
}

// together makes what the hosts say together, anew where a run has changed; while one
// goes on it rests in between, 200 times as long as it took.
func (s *Server) together(f Fleet) *together {
	s.mu.Lock()
	if s.fleets == nil {
		s.fleets = map[string]*together{}
	}
	t := s.fleets[f.Page]
	if t == nil {
		t = &together{}
		s.fleets[f.Page] = t
	}
	s.mu.Unlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	var places []*place
	var state, runs strings.Builder
	written := false
	for _, id := range f.Runs {
		if p := s.listing.find(id); p != nil {
			now := p.stamp()
			places, written = append(places, p), written || now.written
			fmt.Fprintf(&state, "%s %v\n", id, now)
			fmt.Fprintf(&runs, "%s %v\n", id, now.files[0])
		}
	}
	if t.state == state.String() || written && t.runs == runs.String() && time.Now().Before(t.until) {
		return t
	}
	defer s.shelf.turn()()
	used := s.stopwatch()
	t.state, t.runs = state.String(), runs.String()
	t.doc, t.page, t.err = gather(f, places)
	t.until = time.Time{}
	if written {
		s.hush()
		t.until = time.Now().Add(max(s.shelf.rest, restShare*used()))
	}
	return t
}

// gather reads the runs one by one, and keeps of each no more than its block medians. A
// run that has nothing to say yet, or was measured otherwise, is left out and said.
func gather(f Fleet, places []*place) (*document, []byte, error) {
	g := hosts.NewGathering(hosts.Options{By: f.by})
	every := factors.EveryOnHosts(factors.Options{Bare: true})
	var judging hosts.Judging
	var out []record.Remark
	read := 0
	for _, p := range places {
		err := func() error {
			r, err := p.open()
			if err != nil {
				return err
			}
			res, err := evaluate.Run(r, evaluate.Options{})
			if err != nil {
				return err
			}
			if err := g.Add(res, p.name); err != nil {
				return err
			}
			_ = every.Add(g.LabelOf(p.name), res) // the page says of what nothing can be said
			judging.Add(g.LabelOf(p.name), res)
			return nil
		}()
		if err != nil {
			out = append(out, record.Remark{Code: "host-left-out", Level: "info", Text: p.name + " is left out: " + err.Error()})
			continue
		}
		read++
	}
	if read == 0 {
		return nil, nil, errors.New("no run has a counted trial yet: this page shows what there is as it comes")
	}
	h, err := g.Hosts()
	if err != nil {
		return nil, nil, err
	}
	h.Remark = append(h.Remark, out...)
	doc, err := newDocument(h)
	if err != nil {
		return nil, nil, err
	}
	var b bytes.Buffer
	err = page.ServeHosts(&b, h, every.Result(), judging.Claims(), []string{"/assets/web.css"}, []string{"/assets/web.js", "/assets/hosts.js"})
	return doc, b.Bytes(), err
}

// apiHosts answers with what plimsoll report DIR --format json prints of several hosts.
func (s *Server) apiHosts(w http.ResponseWriter, r *http.Request) {
	f, err := s.fleet(r.URL.Query())
	if err != nil {
		s.fail(w, http.StatusNotFound, err)
		return
	}
	t := s.together(f)
	t.mu.Lock()
	doc, err := t.doc, t.err
	t.mu.Unlock()
	s.answer(w, r, doc, err)
}

// pageHosts is the page of several hosts. Its script shows how far each is, and puts a
// newer page in its place when there is one.
func (s *Server) pageHosts(w http.ResponseWriter, r *http.Request) {
	f, err := s.fleet(r.URL.Query())
	if err != nil {
		refuse(w, http.StatusNotFound, "there are no runs of several hosts of this study", "/ lists the runs")
		return
	}
	t := s.together(f)
	t.mu.Lock()
	body, err := t.page, t.err
	t.mu.Unlock()
	if err != nil {
		s.shell(w, r, page.ShellOptions{Title: f.Study + " on several hosts", Scripts: []string{"/assets/hosts.js"}})
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	serve(w, r, body)
}
