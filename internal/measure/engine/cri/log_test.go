package cri

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine/stamp"
)

const at = "2016-10-06T00:17:09.669794202Z "

func TestLogParser(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	for _, c := range []struct {
		name, log, out, err string
		bad                 int
	}{
		{"lines", at + "stdout F one\n" + at + "stdout F two\n", "one\ntwo\n", "", 0},
		{"two streams", at + "stdout F out\n" + at + "stderr F err\n", "out\n", "err\n", 0},
		{"parts of a line", at + "stdout P on\n" + at + "stdout P e li\n" + at + "stdout F ne\n", "one line\n", "", 0},
		{"parts with another stream between", at + "stdout P on\n" + at + "stderr F err\n" + at + "stdout F e\n", "one\n", "err\n", 0},
		{"a part at the end", at + "stdout F one\n" + at + "stdout P tw\n", "one\ntw", "", 0},
		{"an empty line", at + "stdout F \n", "\n", "", 0},
		{"an empty line without its blank", at + "stdout F\n", "\n", "", 0},
		{"an empty part", at + "stdout P \n", "", "", 0},
		{"blanks inside", at + "stdout F  a  b \n", " a  b \n", "", 0},
		{"more tags", at + "stdout P:other a\n" + at + "stdout F:x:y b\n", "ab\n", "", 0},
		{"a time with an offset", "2016-10-06T00:17:09.669794202+02:00 stdout F one\n", "one\n", "", 0},
		{"what looks like a record inside", at + "stdout F " + at + "stderr F x\n", at + "stderr F x\n", "", 0},
		{"bytes that are no text", at + "stdout F \x00\xff\r\n", "\x00\xff\r\n", "", 0},
		{"a huge line", at + "stdout F " + long + "\n", long + "\n", "", 0},
		{"torn in the content", at + "stdout F on", "on", "", 0},
		{"torn in the head", at + "stdout F one\n" + at + "std", "one\n", "", 1},
		{"no stream", at + "stdin F one\n" + at + "stdout F two\n", "two\n", "", 1},
		{"no tag", at + "stdout X one\n" + at + "stdout F two\n", "two\n", "", 1},
		{"no time", "now stdout F one\n" + at + "stdout F two\n", "two\n", "", 1},
		{"another format", `{"log":"one\n","stream":"stdout"}` + "\n" + at + "stdout F two\n", "two\n", "", 1},
		{"a head without end", strings.Repeat("y", 500) + "\n" + at + "stdout F two\n", "two\n", "", 1},
		{"nothing", "", "", "", 0},
		{"an empty record", "\n", "", "", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, size := range []int{1, 7, len(c.log) + 1} {
				if size == 1 && len(c.log) > 1<<16 {
					size = 4096
				}
				var out, err bytes.Buffer
				p := logParser{stdout: &out, stderr: &err}
				feed(&p, []byte(c.log), size)
				p.End()
				if out.String() != c.out || err.String() != c.err || p.Malformed != c.bad {
					t.Errorf("in pieces of %d: %.80q, %.80q, %d malformed; want %.80q, %.80q, %d",
						size, out.String(), err.String(), p.Malformed, c.out, c.err, c.bad)
				}
				if cap(p.head) > 2*maxHead {
					t.Errorf("%d bytes are kept of a head", cap(p.head))
				}
			}
		})
	}
}

func feed(p *logParser, data []byte, size int) {
	for len(data) > 0 {
		n := min(size, len(data))
		_, _ = p.Write(data[:n])
		data = data[n:]
	}
}

// FuzzLogParser: whatever a file holds, and however it is torn, the outcome is
// the same as in one piece; and what was written as records comes out again.
func FuzzLogParser(f *testing.F) {
	f.Add([]byte(at+"stdout F one\n"+at+"stderr P x\n"), 3)
	f.Add([]byte("\n\n  \n"+at+"stdout P:q a\nstdout F\n"), 1)
	f.Add([]byte(strings.Repeat(" ", 300)+"\n"), 2)
	f.Fuzz(func(t *testing.T, data []byte, size int) {
		size = 1 + (size&0x7fffffff)%64
		var whole, torn [2]bytes.Buffer
		a := logParser{stdout: &whole[0], stderr: &whole[1]}
		feed(&a, data, len(data)+1)
		a.End()
		b := logParser{stdout: &torn[0], stderr: &torn[1]}
		feed(&b, data, size)
		b.End()
		if whole[0].String() != torn[0].String() || whole[1].String() != torn[1].String() || a.Malformed != b.Malformed {
			t.Fatalf("in one piece %q %q %d, in pieces of %d %q %q %d",
				whole[0].String(), whole[1].String(), a.Malformed, size, torn[0].String(), torn[1].String(), b.Malformed)
		}
		// The same bytes as a container's output, as a server would write them.
		var log, out bytes.Buffer
		for i, line := range bytes.SplitAfter(data, []byte("\n")) {
			text, whole := bytes.CutSuffix(line, []byte("\n"))
			for len(text) > size {
				fmt.Fprintf(&log, "%sstdout P %s\n", at, text[:size])
				text = text[size:]
			}
			tag := "P"
			if whole {
				tag = "F"
			}
			fmt.Fprintf(&log, "%sstdout %s %s\n", at, tag, text)
			_ = i
		}
		p := logParser{stdout: &out, stderr: &torn[1]}
		feed(&p, log.Bytes(), size)
		p.End()
		if !bytes.Equal(out.Bytes(), data) || p.Malformed != 0 {
			t.Fatalf("written %q, read %q, %d malformed", data, out.Bytes(), p.Malformed)
		}
	})
}

// TestLogFile: with and without inotify, the first byte is stamped when it is
// there, and the rest is read to its end.
func TestLogFile(t *testing.T) {
	for _, polled := range []bool{false, true} {
		t.Run(fmt.Sprintf("polled %v", polled), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), first.log)
			l, err := followLog(path, 0, polled)
			require.NoError(t, err)
			w := &writer{t: t}
			w.open(path)
			select {
			case <-l.out.Ready():
				t.Fatal("ready before anything was written")
			case <-time.After(20 * time.Millisecond):
			}
			before := stamp.Now()
			w.write(at + "stdout F on") // torn
			select {
			case <-l.out.Ready():
			case <-time.After(30 * time.Second):
				t.Fatal("the first byte was not seen")
			}
			if first := l.out.First(); first < before || first > stamp.Now() {
				t.Errorf("the first byte's stamp %d is not after %d", first, before)
			}
			w.write("e\n" + at + "stderr F err\n")
			// Moved away; the writer goes on for a moment, then has a new one.
			w.rename(path)
			w.write(at + "stdout F two\n")
			old := *w
			w.open(path)
			w.write(at + "stdout F three\n")
			time.Sleep(20 * time.Millisecond)
			old.write(at + "stderr F late\n")
			if err := l.Stop(); err != nil {
				t.Errorf("Stop: %v", err)
			}
			if err := l.Stop(); err != nil {
				t.Errorf("Stop again: %v", err)
			}
			if out, errs := string(l.out.Kept()), string(l.err.Kept()); out != "one\ntwo\nthree\n" || errs != "err\nlate\n" {
				t.Errorf("stdout %q, stderr %q", out, errs)
			}
		})
	}
}

// TestLogFileFaults: what can't be trusted is said.
func TestLogFileFaults(t *testing.T) {
	follow := func(write func(path string, l *logFile)) (*logFile, error) {
		path := filepath.Join(t.TempDir(), first.log)
		l, err := followLog(path, 0, false)
		require.NoError(t, err)
		write(path, l)
		return l, l.Stop()
	}
	if _, err := follow(func(path string, _ *logFile) { _ = os.WriteFile(path, []byte("no record\n"), 0o600) }); err == nil || !strings.Contains(err.Error(), "format") {
		t.Errorf("a line that is no record: %v", err)
	}
	if _, err := follow(func(string, *logFile) {}); err != nil {
		t.Errorf("a log that never came: %v", err)
	}
	// A file that is written, and replaced before anybody can have looked.
	l := &logFile{path: "0.log", notify: -1, made: 2, files: nil}
	l.finish()
	if l.fault == nil || !strings.Contains(l.fault.Error(), "faster") {
		t.Errorf("a lost rotation: %v", l.fault)
	}
	l, err := follow(func(path string, l *logFile) {
		w := &writer{t: t}
		w.open(path)
		w.write(at + "stdout F a long line that is copied away\n")
		select {
		case <-l.out.Ready():
		case <-time.After(30 * time.Second):
			t.Fatal("it was not read")
		}
		require.NoError(t, w.f.Truncate(0))
		w.write(at + "stdout F new\n")
	})
	if err != nil || string(l.out.Kept()) != "a long line that is copied away\nnew\n" {
		t.Errorf("an emptied file: %v, %q", err, l.out.Kept())
	}
	if _, err := followLog("/no/such/directory/0.log", 0, false); err == nil {
		t.Error("a directory that is not there is watched")
	}
}

type writer struct {
	t *testing.T
	f *os.File
}

func (w *writer) open(path string) {
	w.t.Helper()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = f.Close() })
	w.f = f
}

func (w *writer) write(s string) {
	w.t.Helper()
	if _, err := w.f.WriteString(s); err != nil {
		w.t.Fatal(err)
	}
}

func (w *writer) rename(path string) {
	w.t.Helper()
	if err := os.Rename(path, path+".old"); err != nil {
		w.t.Fatal(err)
	}
}

// TestExitOf: the status with which a stream of an execution ends.
func TestExitOf(t *testing.T) {
	for text, want := range map[string]int{
		`{"metadata":{},"status":"Success"}`: 0,
		`{"status":"Failure","reason":"NonZeroExitCode","message":"…","details":{"causes":[{"reason":"ExitCode","message":"7"}]}}`: 7,
	} {
		if n, err := exitOf([]byte(text)); err != nil || n != want {
			t.Errorf("%s: %d, %v, want %d", text, n, err, want)
		}
	}
	for _, text := range []string{``, `{}`, `{"status":"Failure","message":"no such program"}`} {
		if n, err := exitOf([]byte(text)); err == nil {
			t.Errorf("%q: %d, and no error", text, n)
		}
	}
}
