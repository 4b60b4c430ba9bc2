package web

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze/compare"
	"plimsoll/internal/understand/analyze/history"
	"plimsoll/internal/understand/report"
)

// Index is what /api/runs answers.
type Index struct {
	Schema  int       `json:"schema"`
	Folders []folder  `json:"folders"`
	Runs    []Summary `json:"runs"`
	// Hosts are the studies that runs of several hosts in one folder measured.
	Hosts []Fleet `json:"hosts"`
	// Others are directories beside the runs that hold none.
	Others []Other `json:"others"`
}

// IndexSchema is the version of Index as JSON.
const IndexSchema = 1

func (s *Server) routes() {
	m := http.NewServeMux()
	m.HandleFunc("/api/runs", s.apiRuns)
	m.HandleFunc("/api/runs/{id}", s.run(s.apiRun))
	m.HandleFunc("/api/runs/{id}/result", s.run(s.apiResult))
	m.HandleFunc("/api/runs/{id}/events", s.run(s.events))
	m.HandleFunc("/api/runs/{id}/outputs/{seq}", s.run(s.apiOutput))
	m.HandleFunc("/api/compare", s.apiCompare)
	m.HandleFunc("/api/history", s.apiHistory)
	m.HandleFunc("/api/hosts", s.apiHosts)
	m.HandleFunc("/api/", func(w http.ResponseWriter, _ *http.Request) {
		s.fail(w, http.StatusNotFound, errors.New("there is no such address: docs/serve.md lists them all"))
	})
	m.HandleFunc("/assets/{name}", s.asset)
	m.HandleFunc("/runs/{id}", s.pageRun)
	m.HandleFunc("/compare", s.page("Two runs compared", "compare.js"))
	m.HandleFunc("/hosts", s.pageHosts)
	m.HandleFunc("/history", s.page("History", "history.js"))
	m.HandleFunc("/{$}", s.page("Runs", "index.js"))
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
	index := Index{Schema: IndexSchema, Folders: folders, Runs: s.summaries(), Hosts: []Fleet{}, Others: append([]Other{}, others...)}
	index.Hosts = append(index.Hosts, fleets(index.Runs, folders)...)
	doc, err := newDocument(index)
	s.answer(w, r, doc, err)
}

func (s *Server) apiRun(w http.ResponseWriter, r *http.Request, p *place) {
	doc, err := s.shelf.data(p)
	s.answer(w, r, doc, err)
}

// Brief is what /api/runs/ID/result answers: the answer of a run in a few words.
type Brief struct {
	Result string `json:"result"`
}

// apiResult analyses a run for one line of the index, once for each state of it.
func (s *Server) apiResult(w http.ResponseWriter, r *http.Request, p *place) {
	res, err := s.shelf.result(p)
	if err != nil {
		s.fail(w, http.StatusUnprocessableEntity, err)
		return
	}
	doc, err := newDocument(Brief{report.Brief(res.Result)})
	s.answer(w, r, doc, err)
}

// maxOutput bounds what is sent of what a workload printed, in bytes.
const maxOutput = 256 << 10

// apiOutput gives what a trial printed, as text that no browser interprets.
func (s *Server) apiOutput(w http.ResponseWriter, r *http.Request, p *place) {
	seq, err := strconv.ParseUint(r.PathValue("seq"), 10, 32)
	if err != nil || seq >= record.MaxSeq {
		s.fail(w, http.StatusBadRequest, fmt.Errorf("%q is not a trial number", r.PathValue("seq")))
		return
	}
	run, err := p.open()
	if err != nil {
		s.fail(w, http.StatusUnprocessableEntity, err)
		return
	}
	out, err := run.Output(record.OutputName(int(seq)))
	if err != nil {
		s.fail(w, http.StatusNotFound, fmt.Errorf("of trial %d no output was kept", seq))
		return
	}
	defer out.Close()
	if f, ok := out.(interface{ Stat() (fs.FileInfo, error) }); ok {
		if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
			s.fail(w, http.StatusNotFound, fmt.Errorf("what was kept of trial %d is not a file", seq))
			return
		}
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Content-Disposition", fmt.Sprintf("inline; filename=\"%s\"", record.OutputName(int(seq))))
	_, _ = io.Copy(w, io.LimitReader(out, maxOutput)) // who has gone needs no answer
}

func (s *Server) apiCompare(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	doc, err := s.answered("compare", q, func() ([]*place, error) {
		ids := []string{q.Get("base")}
		if len(q["env"]) == 0 {
			ids = append(ids, q.Get("new"))
		}
		var places []*place
		for _, id := range ids {
			p := s.listing.find(id)
			if p == nil {
				return nil, errNoRun
			}
			places = append(places, p)
		}
		if len(q["env"]) == 0 && places[0] == places[1] {
			return nil, &badQuery{"base and new are the same run: two environments of one are compared by base=ID&env=A&env=B"}
		}
		return places, nil
	}, func(results []analysed, _ []history.SkippedRun) (any, error) {
		o, err := compareOptions(q)
		if err != nil {
			return nil, err
		}
		if len(results) == 2 {
			return compare.Between(results[0].Result, results[1].Result, o)
		}
		if len(results) != 1 || len(q["env"]) != 2 {
			return nil, &badQuery{"one run is compared in two environments: env=A&env=B"}
		}
		return compare.Within(results[0].Result, q["env"][0], q["env"][1], o)
	})
	s.answer(w, r, doc, err)
}

func (s *Server) apiHistory(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	doc, err := s.answered("history", q, func() ([]*place, error) {
		places, _, folders := s.listing.scan()
		for _, dir := range q["dir"] {
			if !slices.ContainsFunc(folders, func(f folder) bool { return f.ID == dir }) {
				return nil, &badQuery{fmt.Sprintf("there is no folder %q: /api/runs lists them", dir)}
			}
		}
		return slices.DeleteFunc(slices.Clone(places), func(p *place) bool {
			return len(q["dir"]) > 0 && !slices.Contains(q["dir"], p.folder)
		}), nil
	}, func(results []analysed, skipped []history.SkippedRun) (any, error) {
		asked, err := compareOptions(q)
		if err != nil {
			return nil, err
		}
		o := history.Options{Seed: 1, Against: asked.Against, Filter: asked.Filter}
		if t := q.Get("threshold"); t != "" {
			v, err := strconv.ParseFloat(strings.TrimSuffix(t, "%"), 64)
			if err != nil || !(v > 0 && v <= 100) {
				return nil, &badQuery{fmt.Sprintf("threshold is %q: expected per cent above 0 and at most 100, such as 5%%", t)}
			}
			o.Threshold = v / 100
		}
		past := lists.Map(results, func(r analysed) history.Past {
			return history.Past{Dir: r.place.name, Result: r.Result}
		})
		return history.New(past, skipped, o)
	})
	s.answer(w, r, doc, err)
}

// badQuery is a question that has no answer.
type badQuery struct{ text string }

func (b *badQuery) Error() string { return b.text }

func against(q url.Values) (string, error) {
	switch a := q.Get("against"); a {
	case "", "auto":
		return "", nil
	case "native", "floor", "host", "none":
		return a, nil
	default:
		return "", &badQuery{fmt.Sprintf("against is %q: expected auto, native, floor, host or none", a)}
	}
}

// compareOptions are what a question says of the baseline and of the cells.
func compareOptions(q url.Values) (o compare.Options, err error) {
	if o.Against, err = against(q); err != nil {
		return o, err
	}
	if o.Filter, err = lists.Try(q["filter"], compare.ParseFilter); err != nil {
		return o, &badQuery{err.Error()}
	}
	return o, nil
}

// answered gives an answer that was given before if the runs that it is of are
// as they were, or makes it. Of several runs, those that cannot be read are
// left out and said; of a comparison none may be missing.
func (s *Server) answered(kind string, q url.Values, places func() ([]*place, error), produce func([]analysed, []history.SkippedRun) (any, error)) (*document, error) {
	which, err := places()
	if err != nil {
		return nil, err
	}
	var results []analysed
	var skipped []history.SkippedRun
	var state strings.Builder
	for _, p := range which {
		res, err := s.shelf.result(p)
		if err != nil {
			if kind == "compare" {
				return nil, err
			}
			skipped = append(skipped, history.SkippedRun{Dir: p.name, Reason: err.Error()})
			fmt.Fprintf(&state, "%s %v\n", p.id, err)
			continue
		}
		results = append(results, res)
		fmt.Fprintf(&state, "%s %v\n", p.id, res.stamp)
	}
	return s.shelf.answers.get(kind+"?"+q.Encode(), state.String(), func() (*document, int, time.Duration, error) {
		defer s.shelf.turn()()
		v, err := produce(results, skipped)
		if err != nil {
			return nil, 1, 0, err
		}
		doc, err := newDocument(v)
		return doc, 1, 0, err
	})
}
