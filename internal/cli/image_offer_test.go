//go:build linux

package cli

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestOffersToBuild answers at a terminal whether an image that is missing is built. The
// debootstrap here only says that it was called.
func TestOffersToBuild(t *testing.T) {
	if testing.Short() {
		t.Skip("runs a real engine: left out with -short")
	}
	if os.Geteuid() != 0 {
		t.Skip("images of packages are built by root")
	}
	for _, program := range []string{"bwrap", "debootstrap"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("the engine, or what images are built by, is not here: %v", err)
		}
	}
	for _, c := range []struct {
		key, says string
		status    Status
		built     bool
		measured  bool
	}{
		{"q", "nothing was built and nothing measured", Interrupted, false, false},
		{"xN", "The record is in", Done, false, true}, // what is no answer is passed over
		{"y", "no package today", Failed, true, false},
		{"\x03", "interrupted before the first trial", Interrupted, false, false},
	} {
		t.Run(c.key, func(t *testing.T) {
			p := &subject{t: t, dir: t.TempDir()}
			p.out = filepath.Join(p.dir, "out")
			for name, text := range map[string]string{
				"half.yaml":   "plimsoll: 1\nname: half\nbaselines: [native]\nenvironments: [bubblewrap]\nworkloads: [hello, sysbench-cpu]\nprotocol: {blocks: 1, warmup: 0}\n",
				"debootstrap": "#!/bin/sh\ntouch '" + p.dir + "/asked'\necho no package today >&2\nexit 3\n",
			} {
				if err := os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o755); err != nil { //nolint:gosec // one is executed
					t.Fatal(err)
				}
			}
			master, slave := pseudoTerminal(t)
			cmd := p.command("run", "half.yaml", "--wait", "--force", "-o", p.out)
			cmd.Env = append(cmd.Env, "CI=", "TERM=xterm", "PATH="+p.dir+":"+os.Getenv("PATH"))
			cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
			start(t, cmd)
			slave.Close()
			late := time.AfterFunc(3*time.Minute, func() { _ = cmd.Process.Signal(os.Interrupt) })
			defer late.Stop()
			var said bytes.Buffer
			piece := make([]byte, 4096)
			for answered := false; ; { // until the last who has the terminal is gone
				n, err := master.Read(piece)
				said.Write(piece[:n])
				if !answered && strings.Contains(said.String(), "q: quit") {
					if _, err := master.WriteString(c.key); err != nil {
						t.Fatal(err)
					}
					answered = true
				}
				if err != nil {
					break
				}
			}
			_ = cmd.Wait() // the status is looked at below
			text := said.String()
			if got := Status(cmd.ProcessState.ExitCode()); got != c.status { //nolint:gosec // a status is small
				t.Errorf("status %d, want %d\n%s", got, c.status, text)
			}
			for _, want := range []string{"1 of 2 workloads (2 of 5 rows) can't run without the image toolbox", c.says} {
				if !strings.Contains(text, want) {
					t.Errorf("it does not say %q:\n%s", want, text)
				}
			}
			if _, err := os.Stat(filepath.Join(p.dir, "asked")); (err == nil) != c.built {
				t.Errorf("built: %v, want %v\n%s", err == nil, c.built, text)
			}
			if holdsRun(p.out) != c.measured {
				t.Errorf("measured: %v, want %v\n%s", !c.measured, c.measured, text)
			}
		})
	}
}
