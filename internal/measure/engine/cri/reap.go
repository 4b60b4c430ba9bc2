package cri

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"plimsoll/internal/measure/host/proc"

	"golang.org/x/sys/unix"
)

// reap kills the processes that belong to a pod of ours which its server can't
// end: the shim or monitor, the runtime's sandbox, its file server. It is the
// last resort, after the server was asked in vain; a server that sees them
// gone can then remove the pod.
//
// A process belongs to the pod when its command line has one of the ids that
// the server has given to the pod and its containers, which are random and 64
// digits long. Where the server does not tell an id, since making the pod never
// came back, an id counts when the bundle beside it names our pod.
func reap(pod string, ids []string) {
	ids = append(ids, bundlesOf(pod)...)
	for _, pid := range proc.Here.PIDs() {
		kill(pid, ids)
	}
}

var longID = regexp.MustCompile(`\b[0-9a-f]{64}\b`)

// kill goes by a descriptor, so that it can't hit a process that was given the
// same number meanwhile.
func kill(pid int, ids []string) {
	if !slices.Contains(ids, longID.FindString(commandLine(pid))) {
		return
	}
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	if slices.Contains(ids, longID.FindString(commandLine(pid))) {
		_ = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
	}
}

// bundlesOf finds the ids of the bundles that name a pod: a shim's working
// directory is its bundle, and a runtime is told of it.
func bundlesOf(pod string) []string {
	var ids []string
	for _, pid := range proc.Here.PIDs() {
		line := commandLine(pid)
		id := longID.FindString(line)
		// Anybody can run something with another's id as an argument, beside a
		// file that names our pod: only what is as we are is believed.
		if id == "" || slices.Contains(ids, id) || !ownedByUs("/proc/"+strconv.Itoa(pid)) {
			continue
		}
		cwd, _ := os.Readlink("/proc/" + strconv.Itoa(pid) + "/cwd")
		for _, dir := range append([]string{cwd}, strings.Split(line, "\x00")...) {
			if filepath.Base(dir) == id && names(filepath.Join(dir, "config.json"), pod) {
				ids = append(ids, id)
				break
			}
		}
	}
	return ids
}

// names says whether a bundle's configuration has a pod's name as a string of
// its own.
func names(config, pod string) bool {
	if !ownedByUs(config) {
		return false
	}
	data, err := os.ReadFile(config)
	return err == nil && bytes.Contains(data, []byte(`"`+pod+`"`))
}

// ownedByUs says whether a file, and no link to one, is ours.
func ownedByUs(path string) bool {
	var st unix.Stat_t
	return unix.Lstat(path, &st) == nil && int(st.Uid) == os.Geteuid()
}

// commandLine has NULs between the words.
func commandLine(pid int) string {
	b, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	return string(b)
}
