package adapter

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Helper describes the processes that an engine puts beside a container. All of
// it must fit, since anybody can give a process any name and arguments.
type Helper struct {
	Program string // the file that it runs, without its directory
	UID     int    // whose it is
	// Args are arguments that follow each other, among its own; Also is one more,
	// where it is given.
	Args []string
	Also string
	// Prefix: the file's name begins with Program.
	Prefix bool
}

// Find lists the processes that fit.
func (h Helper) Find() []int {
	var pids []int
	for pid, line := range CommandLines() {
		if h.fits(pid, line) {
			pids = append(pids, pid)
		}
	}
	return pids
}

func (h Helper) fits(pid int, line []byte) bool {
	has := func(args string) bool { return bytes.Contains(line, []byte("\x00"+args+"\x00")) }
	if len(h.Args) > 0 && !has(strings.Join(h.Args, "\x00")) || h.Also != "" && !has(h.Also) {
		return false
	}
	dir := "/proc/" + strconv.Itoa(pid)
	exe, err := os.Readlink(dir + "/exe")
	if err != nil {
		return false
	}
	// A program that was replaced meanwhile is the same one.
	name := filepath.Base(strings.TrimSuffix(exe, " (deleted)"))
	if name != h.Program && !(h.Prefix && strings.HasPrefix(name, h.Program)) {
		return false
	}
	return RunsAs(pid, h.UID)
}

// Kill ends those that fit and are proved to be the run's: what fits may be
// anybody's.
func (h Helper) Kill(proved func(pid int) bool) {
	for _, pid := range h.Find() {
		SignalProcess(pid, unix.SIGKILL, func() bool {
			line, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
			return err == nil && h.fits(pid, line) && proved(pid)
		})
	}
}
