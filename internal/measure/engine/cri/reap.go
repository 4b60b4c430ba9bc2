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
//
// An id that a server tells is that server's word alone: told is the user who listens
// there, and what of the told ids belongs to others than that user stays, unless it is
// root. So nobody can have killed by us what he could not kill himself.
func reap(pod string, ids []string, told int64) {
	ours, whose := bundlesOf(pod), told
	if told == 0 {
		whose = anyUser
	}
	for _, pid := range proc.Here.PIDs() {
		kill(pid, ours, anyUser)
		if told != nobodyYet {
			kill(pid, ids, whose)
		}
	}
}

// anyUser is no condition on whose process it is. It is no user's number, and not that
// of nobody yet.
const anyUser = -2

var longID = regexp.MustCompile(`\b[0-9a-f]{64}\b`)

// kill ends a process that has one of the ids, if it is the user's. It goes by a
// descriptor, so that it can't hit a process that was given the same number meanwhile.
func kill(pid int, ids []string, user int64) {
	meant := func() bool {
		return slices.Contains(ids, longID.FindString(commandLine(pid))) && (user == anyUser || owner("/proc/"+strconv.Itoa(pid)) == user)
	}
	if !meant() {
		return
	}
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	if meant() {
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
func ownedByUs(path string) bool { return owner(path) == int64(os.Geteuid()) }

// owner is the user whose a file is, and no link to one; nobodyYet where there is none.
func owner(path string) int64 {
	var st unix.Stat_t
	if unix.Lstat(path, &st) != nil {
		return nobodyYet
	}
	return int64(st.Uid)
}

// commandLine has NULs between the words.
func commandLine(pid int) string {
	b, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	return string(b)
}
