package docker

import (
	"strings"
	"syscall"
	"testing"

	"plimsoll/internal/measure/engine/private"
	"plimsoll/internal/record"
)

// Where the user's daemon is gone it can be started again; where a private one
// is, there is nothing for the user to do.
func TestAdviceWhereTheDaemonIsGone(t *testing.T) {
	users := &daemon{flavour: plain, host: "unix:///run/docker.sock"}
	if e := users.wrong("creating the container", syscall.ECONNRESET); e.Class != record.Unavailable || !strings.Contains(e.Fix, "systemctl restart docker") {
		t.Errorf("the user's: %v", e)
	}
	ours := &daemon{flavour: plain, host: "unix:///x/sock", own: &ownDaemon{Daemon: &private.Daemon{Dir: t.TempDir()}}}
	e := ours.wrong("creating the container", syscall.ECONNRESET)
	if e.Class != record.Unavailable || strings.Contains(e.Error(), "systemctl") || e.Fix != "" ||
		!strings.HasPrefix(e.Error(), "creating the container: the private daemon ") || !strings.Contains(e.Error(), "next to the user's own") {
		t.Errorf("a private one: %v", e)
	}
}
