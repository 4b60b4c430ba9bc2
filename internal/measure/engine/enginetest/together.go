package enginetest

import (
	"fmt"
	"io"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/child"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/forward"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/record"
)

// atOnce: several goroutines run and hold containers, and each gets its own.
func (s *suite) atOnce(t *testing.T) {
	const runners, each, holds, tries = 4, 2, 4, 6
	h, _ := s.env.(engine.Holder)
	var wg sync.WaitGroup
	var naming sync.Mutex
	named := func(args *probe.PayloadArgs) engine.Task {
		naming.Lock()
		defer naming.Unlock()
		return s.task(args)
	}
	// raced says whether a start failed by the engine's own race, and that it did.
	raced := func(try int, failed string) bool {
		is := try < tries && s.opts.Races != nil && s.opts.Races.MatchString(failed)
		if is {
			t.Logf("tried again, for the engine's own race: %s", failed)
		}
		return is
	}
	check := func(what string, res engine.Result, err error, word string) {
		if err != nil || res.Failure != nil {
			t.Errorf("%s: %v, %+v (stderr %q)", what, err, res.Failure, res.Stderr)
			return
		}
		if _, err := probe.ParsePayload(res.Stdout, word); err != nil {
			t.Errorf("%s: %v (stdout %q)", what, err, res.Stdout)
		}
	}
	run := func() {
		for try := 1; ; try++ {
			var args probe.PayloadArgs
			res, err := s.env.Run(t.Context(), named(&args))
			if err == nil && res.Failure != nil && raced(try, res.Failure.Text) {
				continue
			}
			check("Run", res, err, args.Word)
			return
		}
	}
	hold := func() {
		for try := 1; ; try++ {
			args := probe.PayloadArgs{Stay: true}
			held, err := h.Hold(t.Context(), named(&args))
			switch {
			case class(err) == record.Unsupported:
				t.Logf("not held: %v", err)
			case err != nil && raced(try, err.Error()):
				continue
			case err != nil:
				t.Errorf("Hold: %v", err)
			default:
				res, err := end(t, held, 10*time.Second)
				check("End", res, err, args.Word)
			}
			return
		}
	}
	for range runners {
		wg.Go(func() {
			for range each {
				run()
			}
		})
	}
	if h != nil {
		for range holds {
			wg.Go(hold)
		}
	}
	wg.Wait()
}

// server is a held container that says a word to whoever connects.
type server struct {
	held engine.Held
	port int
	word string
}

// serve starts the server for two checks, once.
func (s *suite) serve(t *testing.T) *server {
	t.Helper()
	env := s.busybox(t)
	h := holder(t, env)
	if s.server != nil {
		return s.server
	}
	srv := &server{port: freePort(t), word: adapter.Word()}
	task := s.tool("/bin/busybox", "sh", "-c", fmt.Sprintf("echo up; exec busybox nc -ll -p %d -e /bin/busybox echo %s", srv.port, srv.word))
	var err error
	if srv.held, err = h.Hold(t.Context(), task); err != nil {
		t.Fatalf("Hold of a server: %v", err)
	}
	s.server = srv
	return srv
}

// freePort finds a port that nobody has: with the network host the container
// listens on the host's.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = l.Close() }()
	return l.Addr().(*net.TCPAddr).Port
}

// client asks the server until it listens, and answers.
func (s *suite) client(address string, port int) engine.Task {
	return s.tool("/bin/busybox", "sh", "-c",
		`i=0; while [ $i -lt 100 ]; do r=$(busybox nc -w 5 "$0" "$1" </dev/null) && [ -n "$r" ] && echo "$r" && exit 0; busybox usleep 20000; i=$((i+1)); done; exit 9`,
		address, strconv.Itoa(port))
}

// beside: a container in the network namespace of another one reaches it on
// loopback.
func (s *suite) beside(t *testing.T) {
	srv := s.serve(t)
	task := s.client("127.0.0.1", srv.port)
	task.Beside = srv.held
	h := s.hold(t, s.box, task)
	res := endedAlone(t, h)
	if got := strings.TrimSpace(string(res.Stdout)); got != srv.word {
		t.Errorf("beside the server, on loopback: %q, want %q (exit %v, stderr %q)", got, srv.word, show(res.Exit), res.Stderr)
	}
}

// endedAlone waits for the end that comes by itself.
func endedAlone(t *testing.T, h engine.Held) engine.Result {
	t.Helper()
	select {
	case <-h.Ended():
	case <-time.After(child.Stretch(endLimit)):
		t.Error("Ended was not closed when the payload had ended")
	}
	return ended(t, h, time.Second)
}

// address: where a held container claims one, other containers reach it there,
// and the host does unless the address is an inner one.
func (s *suite) address(t *testing.T) {
	srv := s.serve(t)
	place := srv.held.Place()
	if place.Address == "" {
		t.Skipf("no address: %s", place.NoAddress)
	}
	task := s.client(place.Address, srv.port)
	res, err := s.box.Run(t.Context(), task)
	if err != nil || res.Failure != nil || strings.TrimSpace(string(res.Stdout)) != srv.word {
		who := ""
		if a, perr := netip.ParseAddr(place.Address); perr == nil && !place.Inner {
			if by, fix := forward.Blame(t.Context(), s.kit, forward.Bridge(a)); by != "" {
				who = fmt.Sprintf("; packets there may be dropped by %s (%s)", by, fix)
			}
		}
		t.Errorf("from another container at %s: %v, %+v, %q, want %q (stderr %q)%s", place.Address, err, res.Failure, res.Stdout, srv.word, res.Stderr, who)
	}
	if place.Inner {
		return
	}
	conn, err := net.DialTimeout("tcp", net.JoinHostPort(place.Address, strconv.Itoa(srv.port)), 5*time.Second)
	if err != nil {
		t.Fatalf("from the host: %v", err)
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(5 * time.Second))
	if text, err := io.ReadAll(conn); strings.TrimSpace(string(text)) != srv.word {
		t.Errorf("from the host at %s: %q, want %q (%v)", place.Address, text, srv.word, err)
	}
}
