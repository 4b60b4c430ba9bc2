package wrap

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/engine"
)

// limit writes the limits. Swap is left alone, as OCI runtimes do when they
// are told of memory only.
func (d groupDir) limit(l engine.Limits) error {
	write := func(name, value string) error {
		return os.WriteFile(filepath.Join(d.path, name), []byte(value), 0)
	}
	quota := strconv.FormatInt(int64(l.CPUs*periodUS), 10)
	period := strconv.Itoa(periodUS)
	memory := strconv.FormatInt(l.MemoryBytes, 10)
	var errs []error
	if l.CPUs > 0 {
		switch d.kind {
		case cpuV1, bothV1:
			errs = append(errs, write("cpu.cfs_period_us", period), write("cpu.cfs_quota_us", quota))
		case unified:
			errs = append(errs, write("cpu.max", quota+" "+period))
		}
	}
	if l.MemoryBytes > 0 {
		switch d.kind {
		case memoryV1, bothV1:
			errs = append(errs, write("memory.limit_in_bytes", memory))
		case unified:
			errs = append(errs, write("memory.max", memory))
		}
	}
	return errors.Join(errs...)
}

// Throttled is for how long the group's CPU limit has held processes back, in
// all; false where there is no such limit.
func (c *Cgroup) Throttled() (time.Duration, bool) {
	if c == nil {
		return 0, false
	}
	for _, d := range c.dirs {
		switch d.kind {
		case cpuV1, bothV1:
			n, ok := d.counter("cpu.stat", "throttled_time")
			return time.Duration(n), ok
		case unified:
			n, ok := d.counter("cpu.stat", "throttled_usec")
			return time.Duration(n) * time.Microsecond, ok
		}
	}
	return 0, false
}

// OOMKills counts the processes of the group that the kernel has killed for
// want of memory; false where that can't be known.
func (c *Cgroup) OOMKills() (int64, bool) {
	if c == nil {
		return 0, false
	}
	for _, d := range c.dirs {
		switch d.kind {
		case memoryV1, bothV1:
			return d.counter("memory.oom_control", "oom_kill")
		case unified:
			return d.counter("memory.events", "oom_kill")
		}
	}
	return 0, false
}

// OOMWatch remembers the count now and says later whether it has grown: what
// a plan of clirun asks.
func (c *Cgroup) OOMWatch() func() bool {
	before, ok := c.OOMKills()
	return func() bool {
		after, ok2 := c.OOMKills()
		return ok && ok2 && after > before
	}
}

// counter reads one number of a file of "key value" lines.
func (d groupDir) counter(file, key string) (int64, bool) {
	text, err := os.ReadFile(filepath.Join(d.path, file))
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(text)) {
		k, v, _ := strings.Cut(strings.TrimSpace(line), " ")
		if k == key {
			n, err := strconv.ParseInt(v, 10, 64)
			return n, err == nil
		}
	}
	return 0, false
}

// HostOOMWatch is like OOMWatch for the whole host: the kernel's count of
// processes killed for want of memory, which also sees a cgroup that the
// engine made and removed. A kill elsewhere on the host counts too, so it is
// evidence only beside a death by SIGKILL.
func HostOOMWatch() func() bool {
	before, ok := vmstat("oom_kill")
	return func() bool {
		after, ok2 := vmstat("oom_kill")
		return ok && ok2 && after > before
	}
}

func vmstat(key string) (int64, bool) {
	return groupDir{path: "/proc"}.counter("vmstat", key)
}
