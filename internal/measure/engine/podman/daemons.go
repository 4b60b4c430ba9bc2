package podman

import (
	"bytes"
	"context"
	"path/filepath"

	"plimsoll/internal/measure/engine/adapter"
)

// Daemons returns the API service. An ordinary user's Podman also has a process
// that holds the namespaces, and one for the network of all bridges.
func (env *environment) Daemons(context.Context) (sockets []string, pids []int) {
	if env.byAPI {
		sockets = append(sockets, env.rest.socket)
	}
	if env.p.user == nil {
		return sockets, nil
	}
	dir := env.p.user.RuntimeDir
	if pid, alive := (&pause{file: filepath.Join(dir, pauseFile)}).process(env.Kit, env.p.user); alive {
		pids = append(pids, pid)
	}
	netns := []byte(filepath.Join(dir, "netns/rootless-netns"))
	for pid, line := range adapter.CommandLines() {
		if bytes.Contains(line, netns) {
			pids = append(pids, pid)
		}
	}
	return sockets, pids
}
