package probe

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/common/require"
)

// listenSlowly opens a port only after some time.
func listenSlowly(t *testing.T) (port int, end func()) {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	require.NoError(t, err)
	at := l.Addr().String()
	l.Close()
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		time.Sleep(30 * time.Millisecond)
		if l, err := net.Listen("tcp4", at); err == nil {
			<-done
			l.Close()
		}
	}()
	return l.Addr().(*net.TCPAddr).Port, func() { close(done); <-ended }
}

func TestTaskWaitsForAPort(t *testing.T) {
	t.Parallel()
	port, end := listenSlowly(t)
	defer end()
	r := runTask(t, TaskArgs{Steps: []TaskStep{{Kind: TaskPort, Port: port}, step(TaskMain, "true")}})
	if r.err != nil || r.status != 0 || r.stderr != "" || r.Steps[0].End-r.Steps[0].Begin > 10e9 {
		t.Errorf("%+v", r)
	}
}

// The lines of a whole task, with %s where the main step's output comes.
const (
	testMark  = "00112233445566778899aabbccddeeff"
	wholeTask = "plimsoll 1 w first 5\nk uid 0\n\nplimsoll 1 w mark " + testMark + "\n\nplimsoll 1 w-" + testMark + " step 0 begin 6 main\n%s" +
		"\nplimsoll 1 w-" + testMark + " step 0 end 9 status 137 errno 0 spawn 7 user 1 system 2 rss 3 switches 4 5\n" +
		"\nplimsoll 1 w-" + testMark + " ready 10\n\nplimsoll 1 w-" + testMark + " done 11\n"
)

func TestParseTask(t *testing.T) {
	whole := fmt.Sprintf(wholeTask, "out")
	got, err := ParseTask([]byte("warning\n"+whole+"and more"), "w")
	want := TaskResult{Index: 0, Kind: TaskMain, Begin: 7, End: 9, Status: 137, UserNS: 1, SystemNS: 2, MaxRSS: 3, Voluntary: 4, Involuntary: 5}
	if err != nil || got.First != 5 || got.Done != 11 || got.Ready != 10 || string(got.Output) != "out" || got.Report["uid"] != "0" ||
		len(got.Steps) != 1 || got.Steps[0] != want {
		t.Errorf("%+v, %v", got, err)
	}
	first := strings.Index(whole, "\n")
	for n := range whole {
		got, err := ParseTask([]byte(whole[:n]), "w")
		if n <= first && !errors.Is(err, ErrNoProof) || n > first && !errors.Is(err, ErrTorn) {
			t.Errorf("the first %d bytes: %+v, %v", n, got, err)
		}
	}
	for _, word := range []string{"", "x", "w ", "w\n", "ww"} {
		if got, err := ParseTask([]byte(whole), word); !errors.Is(err, ErrNoProof) || got.First != 0 {
			t.Errorf("the word %q: %v", word, err)
		}
	}
	for _, change := range [][2]string{
		{"step 0 end", "step 1 end"}, {"step 0 end", "step 0 begin"}, {"status 137", "status 256"}, {"status 137", "status x"},
		{"errno 0", "errno"}, {"switches 4 5", "switches 4"}, {"rss 3", "rss -3"}, {"spawn 7", "spawn 0"}, {"spawn 7", "spawn 10"}, {"mark 00", "mark 0"}, {"mark 00", "mark xx"}, {"main", "brain"}, {"ready 10", "ready 0"},
		{"ready 10", "binary 00"}, {"ready 10", "done 10"}, {"ready 10", "step 0 end 9 status 0"}, {"ready 10", "what"}, {"step 0 begin", "step 64 begin"},
	} {
		if got, err := ParseTask([]byte(strings.Replace(whole, change[0], change[1], 1)), "w"); !errors.Is(err, errTaskLine) {
			t.Errorf("%s instead of %s: %+v, %v", change[1], change[0], got, err)
		}
	}
}

// TestParseTaskGivesOutputBack for random output of the bytes that matter, as
// it comes through a pipe and as a terminal changes it.
func TestParseTaskGivesOutputBack(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	parts := []string{"\n", "\r", "\x00", "plimsoll 1 ", "plimsoll 1 w ", "plimsoll 1 w-", "mark ", "w", " ", "done 5", "step 0 end", "k uid 7", "x"}
	n := 20000
	if testing.Short() {
		n = 4000
	}
	for range n {
		var out strings.Builder
		for range rng.IntN(12) {
			out.WriteString(parts[rng.IntN(len(parts))])
		}
		whole := fmt.Sprintf(wholeTask, out.String())
		for _, text := range []string{whole, strings.ReplaceAll(whole, "\n", "\r\n")} {
			got, err := ParseTask([]byte(text), "w")
			if err != nil || string(got.Output) != out.String() || got.Report["uid"] != "0" {
				t.Fatalf("%q: %q, %v", text, got.Output, err)
			}
		}
	}
}

func FuzzParseTask(f *testing.F) {
	f.Add([]byte(fmt.Sprintf(wholeTask, "out")))
	f.Add([]byte("plimsoll 1 w first 5\r\n\r\nplimsoll 1 w mark " + testMark + "\r\n\r\nplimsoll 1 w-" + testMark + " step 0 begin 6 serve\r\n"))
	f.Add([]byte("plimsoll 1 w first 5\n\nplimsoll 1 w mark " + testMark + "\n\nplimsoll 1 w-" + testMark + " binary error 2\n"))
	f.Fuzz(func(t *testing.T, out []byte) {
		got, err := ParseTask(out, "w")
		if errors.Is(err, ErrNoProof) != (got.First == 0) || (err == nil) != (got.Done > 0 && !errors.Is(err, errTaskLine)) {
			t.Errorf("%+v %v", got, err)
		}
		if len(got.Output) > len(out) || len(got.Steps) > maxTaskSteps {
			t.Errorf("%+v", got)
		}
		for _, s := range got.Steps {
			if s.Index < 0 || s.Status < -1 || s.Status > 255 || s.Begin <= 0 {
				t.Errorf("%+v", s)
			}
		}
	})
}

func TestTaskArgvRefuses(t *testing.T) {
	good := TaskStep{Kind: TaskMain, Argv: []string{"a"}}
	many := TaskArgs{Word: "w"}
	for range 65 {
		many.Steps = append(many.Steps, good)
	}
	for name, a := range map[string]TaskArgs{
		"no word":       {Steps: []TaskStep{good}},
		"two words":     {Word: "a b", Steps: []TaskStep{good}},
		"a long word":   {Word: strings.Repeat("w", 129), Steps: []TaskStep{good}},
		"no steps":      {Word: "w"},
		"many steps":    many,
		"a NUL":         {Word: "w", Steps: []TaskStep{{Kind: TaskMain, Argv: []string{"a", "b\x00"}}}},
		"a NUL as file": {Word: "w", Steps: []TaskStep{{Kind: TaskFile, File: "\x00"}}},
		"a NUL as dir":  {Word: "w", Dir: "/\x00", Steps: []TaskStep{good}},
		"long":          {Word: "w", Steps: []TaskStep{{Kind: TaskMain, Argv: []string{"a", strings.Repeat("x", 128<<10)}}}},
		"many":          {Word: "w", Steps: []TaskStep{{Kind: TaskMain, Argv: append([]string{"a"}, make([]string, 20000)...)}}},
		"no program":    {Word: "w", Steps: []TaskStep{{Kind: TaskMain}}},
		"an empty name": {Word: "w", Steps: []TaskStep{{Kind: TaskMain, Argv: []string{""}}}},
		"no kind":       {Word: "w", Steps: []TaskStep{{Argv: []string{"a"}}}},
		"no port":       {Word: "w", Steps: []TaskStep{{Kind: TaskPort}}},
		"no file":       {Word: "w", Steps: []TaskStep{{Kind: TaskFile}}},
		"no status":     {Word: "w", Steps: []TaskStep{{Kind: TaskMain, Argv: []string{"a"}, Status: 256}}},
	} {
		if _, err := a.Argv("/p"); !errors.Is(err, errTaskArgs) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
