package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/evaluate"
	"plimsoll/internal/understand/view"
)

// restLeast is for how long at least nothing is made anew of a run that goes on.
const restLeast = 10 * time.Second

// What is kept of what was made, in bytes, and of answers in their number.
const (
	maxResults   = 256 << 20
	maxDocuments = 64 << 20
	maxAnswers   = 32
)

// shelf keeps what was made of runs.
type shelf struct {
	server    *Server
	work      chan struct{} // one at a time makes something
	results   kept[analysed]
	documents kept[*document]
	answers   kept[*document]
	// build makes the data of a page; a test counts how often.
	build func(*record.Reader) (*view.Data, error)
	rest  time.Duration
}

func (s *shelf) init(server *Server) {
	s.server, s.work, s.rest = server, make(chan struct{}, 1), restLeast
	s.build = func(r *record.Reader) (*view.Data, error) { return view.Build(r, view.Options{}) }
	s.results.max, s.documents.max, s.answers.max = maxResults, maxDocuments, maxAnswers
}

// analysed is a result with the state of the run that it is of.
type analysed struct {
	*analyze.Result
	place *place
	stamp stamp
}

// document is JSON ready to be sent.
type document struct {
	zipped []byte
	tag    string
}

func newDocument(v any) (*document, error) {
	var b bytes.Buffer
	// Level 4: 2 % larger than the default, in half of the time.
	z, err := gzip.NewWriterLevel(&b, 4)
	if err != nil {
		return nil, err
	}
	sum := sha256.New()
	if err := json.NewEncoder(both{z, sum}).Encode(v); err != nil {
		return nil, fmt.Errorf("encoding the answer: %w", err)
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return &document{zipped: b.Bytes(), tag: `"` + hex.EncodeToString(sum.Sum(nil)[:9]) + `"`}, nil
}

// both writes to two that never fail.
type both [2]interface{ Write([]byte) (int, error) }

func (b both) Write(p []byte) (int, error) {
	_, _ = b[1].Write(p)
	return b[0].Write(p)
}

// data is what the page of a run draws.
func (s *shelf) data(p *place) (*document, error) {
	now := p.stamp()
	return s.documents.get(p.id, now, func() (*document, int, time.Duration, error) {
		defer s.turn()()
		used := s.server.stopwatch()
		r, err := p.open()
		if err != nil {
			return nil, 0, 0, err
		}
		d, err := s.build(r)
		if err != nil {
			return nil, 0, 0, err
		}
		doc, err := newDocument(d)
		if err != nil {
			return nil, 0, 0, err
		}
		return doc, len(doc.zipped), s.restOf(now, used()), nil
	})
}

// result is the analysis of a run.
func (s *shelf) result(p *place) (analysed, error) {
	now := p.stamp()
	return s.results.get(p.id, now, func() (analysed, int, time.Duration, error) {
		defer s.turn()()
		used := s.server.stopwatch()
		r, err := p.open()
		if err != nil {
			return analysed{}, 0, 0, err
		}
		res, err := evaluate.Run(r, evaluate.Options{})
		if err != nil {
			return analysed{}, 0, 0, err
		}
		return analysed{res, p, now}, weight(res), s.restOf(now, used()), nil
	})
}

// turn waits until nothing else is being made, and gives what lets go.
func (s *shelf) turn() func() {
	s.work <- struct{}{}
	return func() { <-s.work }
}

// restOf is how long what was made is good for although the run goes on.
func (s *shelf) restOf(of stamp, used time.Duration) time.Duration {
	if !of.written {
		return 0
	}
	s.server.hush()
	return max(s.rest, restShare*used)
}

// weight is about how many bytes a result takes.
func weight(r *analyze.Result) int {
	n := 10_000
	for w := range r.Workloads {
		for t := range r.Workloads[w].Tables {
			tab := &r.Workloads[w].Tables[t]
			n += 300 * len(tab.Pairs)
			for c := range tab.Cells {
				n += 500 + 50*len(tab.Cells[c].BlockMedians)
			}
		}
	}
	return n
}

// kept is what was made, by a key; the oldest goes when there is too much.
type kept[T any] struct {
	max int

	mu    sync.Mutex
	items map[string]*item[T]
	order []string // the one that was asked for last at the end
	sum   int
}

type item[T any] struct {
	mu     sync.Mutex // held while it is made: others wait for the same
	stamp  any
	value  T
	err    error
	made   bool
	until  time.Time
	weight int
}

// get gives what is there, where it is of this stamp or may still be used, or
// makes it. The time is how long it may be used although its run goes on.
func (k *kept[T]) get(key string, now any, produce func() (T, int, time.Duration, error)) (T, error) {
	it := k.item(key)
	it.mu.Lock()
	defer it.mu.Unlock()
	if it.good(now) {
		return it.value, it.err
	}
	value, weight, good, err := produce()
	it.value, it.err, it.stamp, it.made, it.until = value, err, now, true, time.Now().Add(good)
	k.put(key, it, max(weight, 1))
	return value, err
}

// good says whether what is there need not be made anew: nothing has changed,
// or the run only went on.
func (it *item[T]) good(now any) bool {
	if !it.made {
		return false
	}
	if it.stamp == now {
		return true
	}
	was, ok := it.stamp.(stamp)
	is, _ := now.(stamp)
	return ok && is.written && is.files[0] == was.files[0] && time.Now().Before(it.until)
}

// good says whether what is there would be given as it is.
func (k *kept[T]) good(key string, now any) bool {
	k.mu.Lock()
	it := k.items[key]
	k.mu.Unlock()
	if it == nil {
		return false
	}
	if !it.mu.TryLock() {
		return true // it is being made
	}
	defer it.mu.Unlock()
	return it.good(now)
}

func (k *kept[T]) item(key string) *item[T] {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.items == nil {
		k.items = map[string]*item[T]{}
	}
	it := k.items[key]
	if it == nil {
		it = &item[T]{}
		k.items[key] = it
	}
	k.touch(key)
	return it
}

func (k *kept[T]) touch(key string) {
	k.order = append(slices.DeleteFunc(k.order, func(o string) bool { return o == key }), key)
}

func (k *kept[T]) put(key string, it *item[T], weight int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.items[key] != it {
		return // it went meanwhile
	}
	k.sum += weight - it.weight
	it.weight = weight
	for k.sum > k.max && len(k.order) > 1 {
		old := k.order[0]
		if old == key {
			break
		}
		k.sum -= k.items[old].weight
		delete(k.items, old)
		k.order = k.order[1:]
	}
}
