package trace

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/timeline"
)

// The parts of a program that waits for two others at the same time, and then for a third:
//
//	joiner ── asks ──┬─ long pauses 20 ms ─┬─ last pauses 10 ms
//	                 └─ short 15 ms ───────┘
var pauses = map[string]time.Duration{"long": 20 * time.Millisecond, "short": 15 * time.Millisecond, "last": 10 * time.Millisecond}

// branch pauses when it is asked to, and answers.
func branch(long time.Duration) {
	fmt.Println("ready")
	_, err := bufio.NewReader(os.Stdin).ReadString('\n')
	must(err)
	pause(int64(long))
	fmt.Println("done")
}

func join() {
	in, out := map[string]io.Writer{}, map[string]*bufio.Reader{}
	hear := func(name string) {
		_, err := out[name].ReadString('\n')
		must(err)
	}
	ask := func(name string) {
		_, err := fmt.Fprintln(in[name], "go")
		must(err)
	}
	for name := range pauses {
		b := exec.Command("/proc/self/exe")
		b.Args = []string{name}
		stdin, err := b.StdinPipe()
		must(err)
		stdout, err := b.StdoutPipe()
		must(err)
		must(b.Start())
		in[name], out[name] = stdin, bufio.NewReader(stdout)
		hear(name)
	}
	ask("long")
	ask("short")
	hear("long")
	hear("short")
	ask("last")
	hear("last")
}

// TestShorter: without the longer of two branches a start is shorter by what it takes longer
// than the other one, without that one it is not, and without what comes after both it is by
// all of that.
func TestShorter(t *testing.T) {
	r := recorder(t)
	self, err := os.Executable()
	require.NoError(t, err)
	joiner := filepath.Join(t.TempDir(), "joiner")
	require.NoError(t, os.WriteFile(joiner, fmt.Appendf(nil, "#!/bin/sh\nexec -a joiner %s\n", self), 0o755))
	// Others may have the processors in some of the starts.
	var wrong string
	for range 8 {
		tr, _, err := r.Command(t.Context(), []string{"bash", joiner}, true)
		require.NoError(t, err)
		x, err := timeline.Explain([]*record.Trace{tr}, nil)
		require.NoError(t, err)
		x.Shorten()
		var off []string
		for name, want := range map[string]time.Duration{"long": pauses["long"] - pauses["short"], "short": 0, "last": pauses["last"]} {
			if by := saved(x.Tree, name); by < want-time.Millisecond || by > want+time.Millisecond {
				off = append(off, fmt.Sprintf("without the pause of %s the start is shorter by %v, expected %v", name, by, want))
			}
		}
		if len(off) == 0 {
			return
		}
		wrong = strings.Join(off, "\n") + "\n" + outline(x.Tree, 0)
	}
	t.Error(wrong)
}

// saved is what a start is shorter by without the pauses of a program.
func saved(s *timeline.Step, program string) (by time.Duration) {
	for _, b := range s.Steps {
		if s.Name == program && strings.HasPrefix(b.Name, "waits for a pause") && b.Shorter != nil {
			by += time.Duration(*b.Shorter)
		}
		by += saved(b, program)
	}
	return by
}
