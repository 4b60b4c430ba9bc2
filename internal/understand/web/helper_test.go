package web

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/view"
)

// small is a run that is read at once.
func small(seed uint64) recordtest.Spec {
	s := recordtest.Typical()
	s.Seed, s.Blocks, s.ID = seed, 8, "run"+string(rune('a'+seed))
	s.Started = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, int(seed))
	s.Envs = s.Envs[1:6]
	return s
}

// put makes a run in a folder.
func put(t testing.TB, s recordtest.Spec, folder, name string) string {
	t.Helper()
	dir := filepath.Join(folder, name)
	require.NoError(t, os.Rename(s.Write(t), dir))
	return dir
}

// listPlan is a plan of known trials.
type listPlan []*record.Trial

func (p listPlan) Trials() int { return len(p) }
func (p listPlan) Trial(seq int) (env, workload string, block int, warmup bool) {
	t := p[seq]
	return t.Env, t.Workload, t.Block, t.Warmup
}

func planOf(s recordtest.Spec) listPlan {
	var p listPlan
	for t := range s.Trials() {
		c := *t
		p = append(p, &c)
	}
	return p
}

// site is a server at a real listener.
type site struct {
	*Server
	address string // without a path
	builds  atomic.Int64
	client  *http.Client
}

func open(t testing.TB, o Options) *site {
	t.Helper()
	s, err := New(o)
	require.NoError(t, err)
	x := &site{Server: s}
	x.client = &http.Client{Transport: &http.Transport{}, Timeout: 30 * time.Second}
	inner := s.shelf.build
	s.shelf.build = func(r *record.Reader) (*view.Data, error) {
		x.builds.Add(1)
		return inner(r)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended, ready := make(chan error, 1), make(chan string, 1)
	go func() { ended <- s.Serve(ctx, l, "127.0.0.1", func(a string) { ready <- a }) }()
	x.address = strings.TrimSuffix(<-ready, "/")
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("it ended with %v", err)
		}
		x.client.CloseIdleConnections()
	})
	return x
}

func (x *site) get(t testing.TB, path string) (int, http.Header, string) {
	t.Helper()
	r, err := x.client.Get(x.address + path)
	require.NoError(t, err)
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	return r.StatusCode, r.Header, string(b)
}

func (x *site) json(t testing.TB, path string, into any) {
	t.Helper()
	status, _, body := x.get(t, path)
	if status != http.StatusOK {
		t.Fatalf("GET %s: %d %s", path, status, body)
	}
	if err := json.Unmarshal([]byte(body), into); err != nil {
		t.Fatalf("GET %s: %v in %.200s", path, err, body)
	}
}

func (x *site) index(t testing.TB) Index {
	t.Helper()
	x.listing.mu.Lock()
	x.listing.byID = nil // as after the rest
	x.listing.mu.Unlock()
	var i Index
	x.json(t, "/api/runs", &i)
	return i
}

func (x *site) run(t testing.TB, name string) Summary {
	t.Helper()
	for _, r := range x.index(t).Runs {
		if r.Name == name {
			return r
		}
	}
	t.Fatalf("no run %s", name)
	return Summary{}
}

// viewer is an event stream that is read.
type viewer struct {
	events chan Live
	ended  chan struct{}
	close  func()
}

func (x *site) watch(t testing.TB, id string) *viewer {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, x.address+"/api/runs/"+id+"/events", nil)
	require.NoError(t, err)
	answer, err := (&http.Client{Transport: x.client.Transport}).Do(r) //nolint:bodyclose // the reader below closes it
	require.NoError(t, err)
	if got := answer.Header.Get("Content-Type"); answer.StatusCode != http.StatusOK || !strings.HasPrefix(got, "text/event-stream") {
		t.Fatalf("%d, %s", answer.StatusCode, got)
	}
	v := &viewer{events: make(chan Live, 1000), ended: make(chan struct{}), close: cancel}
	go func() {
		defer close(v.ended)
		defer answer.Body.Close()
		lines := bufio.NewScanner(answer.Body)
		lines.Buffer(nil, 16<<20)
		event := ""
		for lines.Scan() {
			if name, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
				event = name
			}
			data, ok := strings.CutPrefix(lines.Text(), "data: ")
			if !ok {
				continue
			}
			if event == "end" {
				return
			}
			var l Live
			if err := json.Unmarshal([]byte(data), &l); err != nil {
				t.Errorf("%v in %s", err, data)
				return
			}
			v.events <- l
		}
	}()
	t.Cleanup(cancel)
	return v
}

// until reads events until one fulfils the condition, and gives all.
func (v *viewer) until(t testing.TB, what string, ok func(Live) bool) []Live {
	t.Helper()
	var all []Live
	limit := time.After(20 * time.Second)
	for {
		select {
		case l := <-v.events:
			if all = append(all, l); ok(l) {
				return all
			}
		case <-v.ended:
			t.Fatalf("the stream ended before %s: %+v", what, all)
		case <-limit:
			t.Fatalf("no event with %s: %+v", what, all)
		}
	}
}
