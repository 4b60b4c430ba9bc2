package features

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// endPause ends the process that keeps a user's namespaces for Podman, where
// the attempt has started it.
func endPause(file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		return
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || pid <= 1 {
		return
	}
	if name, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/comm"); err != nil || !strings.Contains(string(name), "podman") {
		return
	}
	_ = unix.Kill(pid, unix.SIGKILL) // it may have ended
}
