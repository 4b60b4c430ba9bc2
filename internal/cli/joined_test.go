package cli

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// secondContainerd starts a containerd beside the machine's, with all that is its own in a
// directory, for as long as the script runs. Its socket is c.sock there.
func secondContainerd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: secondctrd DIR")
	}
	dir := ts.MkAbs(args[0])
	socket, config := filepath.Join(dir, "c.sock"), filepath.Join(dir, "config.toml")
	ts.Check(os.MkdirAll(dir, 0o755))
	ts.Check(os.WriteFile(config, fmt.Appendf(nil, `version = 2
root = %q
state = %q
disabled_plugins = ["io.containerd.grpc.v1.cri", "io.containerd.cri.v1.images", "io.containerd.cri.v1.runtime", "io.containerd.nri.v1.nri"]
[grpc]
address = %q
[plugins."io.containerd.internal.v1.opt"]
path = %q
`, filepath.Join(dir, "root"), filepath.Join(dir, "state"), socket, filepath.Join(dir, "opt")), 0o600))
	cmd := exec.Command("containerd", "--config", config)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	ts.Check(cmd.Start())
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // it is ended below
		close(ended)
	}()
	ts.Defer(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // one that has ended is as good
		select {
		case <-ended:
		case <-time.After(20 * time.Second):
			_ = cmd.Process.Kill()
			<-ended
		}
	})
	for begin := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		if c, err := net.Dial("unix", socket); err == nil {
			_ = c.Close()
			return
		}
		select {
		case <-ended:
			ts.Fatalf("containerd has ended: %s", said.String())
		default:
		}
		if time.Since(begin) > time.Minute {
			ts.Fatalf("containerd does not answer")
		}
	}
}
