package cgroup

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/measure/engine"
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

// number reads a file that is one number.
func (d groupDir) number(file string) (int64, bool) {
	text, err := os.ReadFile(filepath.Join(d.path, file))
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	return n, err == nil
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
