package cli

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestSiteBisect searches 20 commits of which most do nothing, some a little, one can't
// be built, one doesn't run, and one makes the start slower: by 60 ms, or by as many as
// PLIMSOLL_BISECT_MS says. One millisecond takes a
// quiet machine: on a busy one the search says that it can't tell, and the test fails.
func TestSiteBisect(t *testing.T) {
	if !*atSite {
		t.Skip("it builds and measures for minutes: PLIMSOLL_SITE=1 runs it")
	}
	ms := cmp.Or(os.Getenv("PLIMSOLL_BISECT_MS"), "60")
	if n, err := strconv.Atoi(ms); err != nil || n < 1 {
		t.Fatalf("PLIMSOLL_BISECT_MS is %q: expected a number of milliseconds, such as 1", ms)
	}
	p := scripts("testdata/bisect")
	setup := p.Setup
	p.Setup = func(env *testscript.Env) error {
		env.Setenv("MS", ms)
		return setup(env)
	}
	testscript.Run(t, p)
}

// killWhen starts a program, and kills it once there is something in a file, or in one of a
// pattern.
func killWhen(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: killwhen FILE PROGRAM ARGS…")
	}
	killOnce(ts, args[1:], "there was something in "+args[0], func() (bool, error) {
		files, err := filepath.Glob(ts.MkAbs(args[0]))
		return slices.ContainsFunc(files, func(f string) bool {
			info, err := os.Stat(f)
			return err == nil && info.Size() > 0
		}), err
	})
}

// killOnce starts a program, and kills it once something is so, which it must see.
func killOnce(ts *testscript.TestScript, program []string, what string, so func() (bool, error)) {
	path, err := exec.LookPath(program[0])
	ts.Check(err)
	cmd := exec.Command(path, program[1:]...)
	cmd.Dir, cmd.Env = ts.Getenv("WORK"), scriptEnv(ts)
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &said
	ts.Check(cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case err := <-ended:
			ts.Fatalf("it ended before %s: %v: %s", what, err, said.String())
		case <-time.After(50 * time.Millisecond):
		}
		there, err := so()
		if err == nil && !there {
			continue
		}
		kerr := cmd.Process.Kill()
		<-ended
		ts.Check(err)
		ts.Check(kerr)
		return
	}
}

// vanished waits until the processes have ended whose command lines have a word.
func vanished(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: vanished WORD")
	}
	left := ""
	for range 200 {
		left = ""
		lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
		ts.Check(err)
		for _, l := range lines {
			if text, err := os.ReadFile(l); err == nil && strings.Contains(string(text), args[0]) {
				left = l
			}
		}
		if left == "" {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	ts.Fatalf("a process of %s is there: %s", args[0], left)
}

// forgotten removes at the end what a file of the script lists: libraries that the
// programs of its builds were linked to.
func forgotten(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: forgotten FILE")
	}
	file := ts.MkAbs(args[0])
	ts.Defer(func() {
		list, err := os.ReadFile(file)
		if err != nil {
			return // nothing was built
		}
		for _, path := range strings.Fields(string(list)) {
			if ok, _ := filepath.Match("/tmp/*.so", path); ok {
				_ = os.Remove(path)
			}
		}
	})
}
