package run

import (
	"bytes"
	"fmt"
	"os"
)

// startTime gives field 22 of /proc/PID/stat, the process's start in clock
// ticks since boot: with the pid it names a process for ever.
func startTime(pid int) (string, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", fmt.Errorf("reading the start time of process %d: %w", pid, err)
	}
	// The command in parentheses may hold spaces and parentheses itself.
	end := bytes.LastIndexByte(b, ')')
	f := bytes.Fields(b[end+1:])
	if end < 0 || len(f) < 20 {
		return "", fmt.Errorf("reading the start time of process %d: /proc/%d/stat is not as proc(5) says", pid, pid)
	}
	return string(f[19]), nil
}
