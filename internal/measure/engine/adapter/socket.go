package adapter

import (
	"path/filepath"
	"strings"
)

// Socket is one spelling of the address of a local daemon, for what its environments
// share: /var/run/the-daemon.sock is /run/the-daemon.sock.
func Socket(address string) string {
	path := strings.TrimPrefix(address, "unix://")
	if is, err := filepath.EvalSymlinks(path); err == nil {
		return is
	}
	return path
}
