package clirun

import (
	"bytes"
	"os"
	"strconv"
	"strings"
)

// FindProcess finds the process with this argument list, which holds a
// trial's random word: the payload, seen from the host. 0 where there is none,
// as with a virtual machine or a kernel of the engine's own. Of several, which
// are its children that have not yet become another program, it is the one
// whose parent is none of them.
func FindProcess(argv []string) int {
	want := []byte(strings.Join(argv, "\x00") + "\x00")
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return 0
	}
	parents := map[int]int{}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if line, err := os.ReadFile("/proc/" + e.Name() + "/cmdline"); err == nil && bytes.Equal(line, want) {
			parents[pid] = parentOf(pid)
		}
	}
	for pid, parent := range parents {
		if _, ok := parents[parent]; !ok {
			return pid
		}
	}
	return 0
}

// parentOf reads the fourth field of a process's stat, behind a name in
// parentheses that may hold anything.
func parentOf(pid int) int {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0
	}
	f := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(f) < 2 {
		return 0
	}
	n, _ := strconv.Atoi(string(f[1])) // 0 is nobody
	return n
}
