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
	if e := (&daemon{socket: "/run/c.sock"}).wrong("creating the container", err); !strings.Contains(e.Fix, "systemctl start containerd") {
		t.Errorf("the user's: %v", e)
	}
	e := (&daemon{socket: "/x/c.sock", own: &private.Daemon{Dir: t.TempDir()}}).wrong("creating the container", err)
	if e.Class != record.Unavailable || strings.Contains(e.Error(), "systemctl") || !strings.Contains(e.Error(), "beside the user's own") {
		t.Errorf("a private one: %v", e)
	}
}
