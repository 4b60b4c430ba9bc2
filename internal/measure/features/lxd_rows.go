package features

import (
	"encoding/json"
	"path/filepath"
	"strings"

	"plimsoll/internal/measure/host/proc"
)

// daemonOfRoot says whose process LXD's daemon is.
func daemonOfRoot(t *try) {
	var answer struct {
		Environment struct {
			PID int `json:"server_pid"`
		}
	}
	if err := json.Unmarshal([]byte(t.must(t.b.hand.program[0], "query", "/1.0")), &answer); err != nil || answer.Environment.PID == 0 {
		t.untried("the daemon does not report its process")
	}
	status, err := proc.Here.Status(proc.PID(answer.Environment.PID))
	t.need("looking at the daemon's process", err)
	t.observe("process %d: Uid:\t%s", answer.Environment.PID, status["Uid"])
	if strings.HasPrefix(status["Uid"], "0") {
		t.no("the daemon that starts the containers is root's, though the containers' root is not")
	}
	t.yes("the daemon is an ordinary user's")
}

// lxdWithoutDaemon asks the client where no daemon answers.
func lxdWithoutDaemon(t *try) {
	env := append([]string{}, t.b.env...)
	for i, v := range env {
		if name, _, ok := strings.Cut(v, "_SOCKET="); ok {
			env[i] = name + "_SOCKET=" + filepath.Join(t.dir, "nothing.sock")
		}
	}
	if s := t.runAs(env, nil, t.b.hand.program[0], "list"); s.status == 0 {
		t.untried("it answered where no daemon listens")
	}
	t.no("without its daemon it does nothing")
}

// lxdTunnel gives an instance the device.
func lxdTunnel(t *try) {
	name := t.running()
	if !exists("/dev/net/tun") {
		t.untried("this machine has no /dev/net/tun to make a tunnel by")
	}
	t.must(t.b.hand.cmd("config", "device", "add", name, "tun", "unix-char", "path=/dev/net/tun")...)
	t.tunnelled(t.hear(t.b.env, t.b.hand.inside(name, tunnelScript...)...))
}
