package containerd

import (
	"net"
	"strings"
	"syscall"
	"testing"

	"plimsoll/internal/measure/engine/private"
	"plimsoll/internal/record"
)

// The same for containerd: only the user's own can be started again.
func TestAdviceWhereTheDaemonIsGone(t *testing.T) {
	err := &net.OpError{Op: "dial", Net: "unix", Err: syscall.ECONNREFUSED}
	for socket, fix := range map[string]string{usualSocket: "systemctl start containerd", "/var" + usualSocket: "systemctl start containerd",
		"/run/other/c.sock": "start the containerd that serves /run/other/c.sock"} {
		if e := (&daemon{socket: socket}).wrong("creating the container", err); e.Fix != fix {
			t.Errorf("the user's at %s: %v", socket, e)
		}
	}
	e := (&daemon{socket: "/x/c.sock", own: &private.Daemon{Dir: t.TempDir()}}).wrong("creating the container", err)
	if e.Class != record.Unavailable || strings.Contains(e.Error(), "systemctl") || !strings.Contains(e.Error(), "next to the user's own") {
		t.Errorf("a private one: %v", e)
	}
}
