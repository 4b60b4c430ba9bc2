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
	"plimsoll/internal/understand/view"
)

// restLeast is for how long at least nothing is made anew of a run that goes on.
const restLeast = 10 * time.Second

// maxDocuments bounds what is kept of what was made, in bytes.
const maxDocuments = 64 << 20

// shelf keeps the data of the pages of runs.
type shelf struct {
	server    *Server
	work      sync.Mutex // one at a time makes something
	documents kept
	// build makes the data of a page; a test counts how often.
	build func(*record.Reader) (*view.Data, error)
	rest  time.Duration
}

func (s *shelf) init(server *Server) {
	s.server, s.rest = server, restLeast
	s.build = func(r *record.Reader) (*view.Data, error) { return view.Build(r, view.Options{}) }
	s.documents.max = maxDocuments
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
	return s.documents.get(p.id, now, func() (*document, time.Duration, error) {
		s.work.Lock()
		defer s.work.Unlock()
		used := s.server.stopwatch()
		r, err := p.open()
		if err != nil {
			return nil, 0, err
		}
		d, err := s.build(r)
		if err != nil {
			return nil, 0, err
		}
		doc, err := newDocument(d)
		return doc, s.restOf(now, used()), err
	})
}

// restOf is how long what was made is good for although the run goes on.
func (s *shelf) restOf(of stamp, used time.Duration) time.Duration {
	if !of.written {
		return 0
	}
	s.server.hush()
	return max(s.rest, restShare*used)
}

// kept is what was made, by a key; the oldest goes when there is too much.
type kept struct {
	max int

	mu    sync.Mutex
	items map[string]*item
	order []string // the one that was asked for last at the end
	sum   int
}

type item struct {
	mu     sync.Mutex // held while it is made: others wait for the same
	stamp  stamp
	doc    *document
	err    error
	made   bool
	until  time.Time
	weight int
}

// get gives what is there, where it is of this stamp or may still be used, or
// makes it. The time is how long it may be used although its run goes on.
func (k *kept) get(key string, now stamp, produce func() (*document, time.Duration, error)) (*document, error) {
	it := k.item(key)
	it.mu.Lock()
	defer it.mu.Unlock()
	if it.good(now) {
		return it.doc, it.err
	}
	doc, good, err := produce()
	it.doc, it.err, it.stamp, it.made, it.until = doc, err, now, true, time.Now().Add(good)
	weight := 1
	if doc != nil {
		weight += len(doc.zipped)
	}
	k.put(key, it, weight)
	return doc, err
}

// good says whether what is there need not be made anew: nothing has changed,
// or the run only went on.
func (it *item) good(now stamp) bool {
	return it.made && (it.stamp == now || now.written && now.files[0] == it.stamp.files[0] && time.Now().Before(it.until))
}

// good says whether what is there would be given as it is.
func (k *kept) good(key string, now stamp) bool {
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

func (k *kept) item(key string) *item {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.items == nil {
		k.items = map[string]*item{}
	}
	it := k.items[key]
	if it == nil {
		it = &item{}
		k.items[key] = it
	}
	k.touch(key)
	return it
}

func (k *kept) touch(key string) {
	k.order = append(slices.DeleteFunc(k.order, func(o string) bool { return o == key }), key)
}

func (k *kept) put(key string, it *item, weight int) {
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
