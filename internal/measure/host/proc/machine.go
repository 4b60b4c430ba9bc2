//go:build linux

package proc

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"
)

// Release is the kernel's, as uname(2) says it; "" where it doesn't.
func Release() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return ""
	}
	return unix.ByteSliceToString(u.Release[:])
}

// Boot is the kernel's name for this boot.
func (d Dir) Boot() (string, error) {
	text, err := d.read("sys/kernel/random/boot_id")
	return strings.TrimSpace(text), err
}

// Memory reads /proc/meminfo. What the kernel does not tell is nil.
func (d Dir) Memory() (procfs.Meminfo, error) {
	fs, err := procfs.NewFS(string(d))
	if err != nil {
		return procfs.Meminfo{}, err
	}
	return fs.Meminfo()
}

// Listed is the memory, bytes, that is free and lies in the processors' own lists, by
// /proc/zoneinfo. /proc/meminfo counts none of it as free, and since Linux 6.7 a list
// grows to an eighth of a zone: what a program takes is then seen there first, and in
// meminfo perhaps never. 0 where meminfo is a container's and zoneinfo the machine's.
func (d Dir) Listed() (int64, error) {
	if same, err := d.sameFileSystem("meminfo", "zoneinfo"); err != nil || !same {
		return 0, err
	}
	text, err := d.read("zoneinfo")
	if err != nil {
		return 0, err
	}
	pages := int64(0)
	for line := range strings.Lines(text) {
		if n, ok := strings.CutPrefix(strings.TrimSpace(line), "count:"); ok {
			v, err := strconv.ParseInt(strings.TrimSpace(n), 10, 48)
			if err != nil {
				return 0, fmt.Errorf("reading /proc/zoneinfo: %w", err)
			}
			pages += v
		}
	}
	return pages * int64(os.Getpagesize()), nil
}

// sameFileSystem says whether two files are answered for by one file system: over some of
// the kernel's, a container of LXC's has those of lxcfs, which tell of the container alone.
func (d Dir) sameFileSystem(a, b string) (bool, error) {
	var of [2]unix.Stat_t
	for i, name := range []string{a, b} {
		path := filepath.Join(string(d), name)
		if err := unix.Stat(path, &of[i]); err != nil {
			return false, &fs.PathError{Op: "stat", Path: path, Err: err}
		}
	}
	return of[0].Dev == of[1].Dev, nil
}

// Threads is how many threads the machine has, by the fourth word of
// /proc/loadavg (1/94).
func (d Dir) Threads() (int64, error) {
	text, err := d.read("loadavg")
	if err != nil {
		return 0, err
	}
	if f := strings.Fields(text); len(f) == 5 {
		_, all, _ := strings.Cut(f[3], "/")
		if n, err := strconv.ParseUint(all, 10, 62); err == nil {
			return int64(n), nil
		}
	}
	return 0, fmt.Errorf("%.80q is no /proc/loadavg", text)
}

// Limit is a resource limit; the largest number is none.
type Limit struct{ Soft, Hard uint64 }

// unlimited is the limit that is none.
const unlimited = ^uint64(0)

// Limits reads a process's limits by their names.
func (d Dir) Limits(who string) (map[string]Limit, error) {
	text, err := d.read(who, "limits")
	if err != nil {
		return nil, err
	}
	return parseLimits(text)
}

// parseLimits reads /proc/PID/limits. The columns are fixed: names hold blanks.
func parseLimits(text string) (map[string]Limit, error) {
	const nameWidth = 26
	all := map[string]Limit{}
	_, text, _ = strings.Cut(text, "\n") // the head
	for line := range strings.Lines(text) {
		var f []string
		if len(line) >= nameWidth {
			f = strings.Fields(line[nameWidth:])
		}
		if len(f) < 2 {
			return nil, fmt.Errorf("%q is not a line of /proc/PID/limits", line)
		}
		var l Limit
		for i, to := range []*uint64{&l.Soft, &l.Hard} {
			if *to = unlimited; f[i] == "unlimited" {
				continue
			}
			n, err := strconv.ParseUint(f[i], 10, 64)
			if err != nil {
				return nil, fmt.Errorf("reading /proc/PID/limits: %w", err)
			}
			*to = n
		}
		all[strings.TrimSpace(line[:nameWidth])] = l
	}
	return all, nil
}
