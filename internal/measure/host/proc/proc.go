//go:build linux

// Package proc reads what the kernel tells in files below /proc: one reader for
// each file. Only what is read while something is measured is read elsewhere
// (collect, and the meters of host), by descriptors that stay open and parsers
// that allocate nothing.
//
// Why it is so: docs/decisions/sampling.md.
package proc

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Dir is a directory with the kernel's files: /proc itself, or a copy of one.
type Dir string

// Here is this machine's.
const Here Dir = "/proc"

// Who a file is asked of: Self, Thread, or a process by PID.
const (
	Self   = "self"
	Thread = "thread-self" // the calling thread, which may have namespaces of its own
)

// PID names a process.
func PID(pid int) string { return strconv.Itoa(pid) }

func (d Dir) read(elem ...string) (string, error) {
	b, err := os.ReadFile(filepath.Join(append([]string{string(d)}, elem...)...))
	return string(b), err
}

// PIDs lists the processes; there are none where the directory can't be read.
func (d Dir) PIDs() []int {
	entries, _ := os.ReadDir(string(d))
	var pids []int
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// Status gives the lines of a process's status by their names.
func (d Dir) Status(who string) (map[string]string, error) {
	text, err := d.read(who, "status")
	if err != nil {
		return nil, err
	}
	status := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(line, ":"); ok {
			status[name] = strings.TrimSpace(value)
		}
	}
	return status, nil
}

// Argv is a process's command line; empty for one that has ended and for the kernel's own.
func (d Dir) Argv(pid int) ([]string, error) {
	text, err := d.read(PID(pid), "cmdline")
	if text = strings.TrimRight(text, "\x00"); err != nil || text == "" {
		return nil, err
	}
	return strings.Split(text, "\x00"), nil
}

// HasFileSystem says whether the kernel can mount this type without loading a
// module for it.
func (d Dir) HasFileSystem(fs string) bool {
	text, _ := d.read("filesystems")
	for line := range strings.Lines(text) {
		if f := strings.Fields(line); len(f) > 0 && f[len(f)-1] == fs {
			return true
		}
	}
	return false
}
