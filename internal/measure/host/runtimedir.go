//go:build linux

package host

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"plimsoll/internal/common/safepath"
)

// RuntimeDir gives the runtime directory that the environment names, where it is there
// and ours alone; else "". A batch job has that of the node on which it was asked for,
// and after su it is another user's.
func RuntimeDir(getenv func(string) string) string {
	if dir := getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) && oursAlone(dir) {
		return dir
	}
	return ""
}

// UserBus is the address of the bus of a user's own service manager, which listens in the
// runtime directory; "" is none.
func UserBus(runtimeDir string) string {
	path := filepath.Join(runtimeDir, "bus")
	if _, err := os.Stat(path); runtimeDir == "" || err != nil {
		return ""
	}
	return "unix:path=" + path
}

// oursAlone says whether a directory is there, and nobody else may write to it.
func oursAlone(dir string) bool {
	info, err := os.Lstat(dir)
	return err == nil && info.IsDir() && safepath.Alone(dir, info) == nil
}

// userLock is where an ordinary user's lock lies. A home may be shared between
// machines, each of which measures at its own time: there it is of this host's name.
func (m Machine) userLock(getenv func(string) string) (string, error) {
	if dir := RuntimeDir(getenv); dir != "" {
		return filepath.Join(dir, lockTail), nil
	}
	if dir := filepath.Join("/run/user", strconv.Itoa(os.Geteuid())); oursAlone(m.path(dir)) {
		return filepath.Join(dir, lockTail), nil
	}
	for _, v := range []struct{ name, below string }{{"XDG_STATE_HOME", ""}, {"HOME", ".local/state"}} {
		if dir := getenv(v.name); filepath.IsAbs(dir) {
			return filepath.Join(dir, v.below, "plimsoll", "on-"+m.nameInPath(), lockTail), nil
		}
	}
	return "", errors.New("there is neither a runtime directory (XDG_RUNTIME_DIR) of this user's here nor a HOME; set XDG_RUNTIME_DIR to a directory of yours")
}

// unfit is what a name of a directory of ours doesn't have.
var unfit = regexp.MustCompile(`[^A-Za-z0-9.-]`)

func (m Machine) nameInPath() string {
	return strings.Trim(unfit.ReplaceAllString(m.text("/proc/sys/kernel/hostname"), "-"), ".")
}
