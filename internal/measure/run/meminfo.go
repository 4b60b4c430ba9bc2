package run

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// meminfo is what we need of /proc/meminfo, in bytes. What the kernel does not
// tell is 0.
type meminfo struct {
	Total, Available, Shmem int64

	unreclaimable, pageTables, secPageTables, stacks, perCPU, vmalloc int64
}

// kernel is the memory that the kernel itself takes and does not give back
// under pressure. Vmalloc contains the stacks where those are mapped there
// (CONFIG_VMAP_STACK, everywhere by now), so the stacks are not added to it.
func (m meminfo) kernel() int64 {
	return m.unreclaimable + m.pageTables + m.secPageTables + max(m.stacks, m.vmalloc) + m.perCPU
}

func readMeminfo(path string) (m meminfo, err error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return m, err
	}
	if m.Total, err = kibField(b, "MemTotal:"); err != nil {
		return m, err
	}
	if m.Available, err = kibField(b, "MemAvailable:"); err != nil {
		return m, err
	}
	for key, to := range map[string]*int64{
		"Shmem:": &m.Shmem, "SUnreclaim:": &m.unreclaimable, "PageTables:": &m.pageTables, "SecPageTables:": &m.secPageTables,
		"KernelStack:": &m.stacks, "Percpu:": &m.perCPU, "VmallocUsed:": &m.vmalloc,
	} {
		if v, err := kibField(b, key); err == nil {
			*to = v
		}
	}
	return m, nil
}

// kibField reads a line such as "MemTotal:  1234 kB", as bytes.
func kibField(b []byte, key string) (int64, error) {
	for line := range bytes.Lines(b) {
		rest, ok := bytes.CutPrefix(line, []byte(key))
		if !ok {
			continue
		}
		fields := strings.Fields(string(rest))
		if len(fields) == 0 {
			break
		}
		n, err := strconv.ParseInt(fields[0], 10, 64)
		if err != nil || n < 0 || n > 1<<50 {
			return 0, fmt.Errorf("reading %s %q is no size", key, fields[0])
		}
		return n << 10, nil
	}
	return 0, fmt.Errorf("there is no line %s", key)
}

// threads is how many threads the machine has, by /proc/loadavg; 0 where that
// can't be read.
func threads(path string) int64 {
	b, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	f := strings.Fields(string(b))
	if len(f) < 4 {
		return 0
	}
	_, all, _ := strings.Cut(f[3], "/")
	n, err := strconv.ParseInt(all, 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return n
}
