//go:build linux

package collect

import (
	"os"
	"strings"
)

// host reads the machine's memory.
func (s *survey) host() HostMemory {
	h := HostMemory{}
	b, err := os.ReadFile(s.m.path("/proc/meminfo"))
	for _, x := range []struct {
		key  string
		into *Quantity
	}{
		{"MemTotal:", &h.Total}, {"MemAvailable:", &h.Available}, {"MemFree:", &h.Free}, {"Slab:", &h.Slab},
		{"SUnreclaim:", &h.Unreclaim}, {"KernelStack:", &h.KernelStack}, {"PageTables:", &h.PageTables},
		{"Percpu:", &h.Percpu}, {"VmallocUsed:", &h.Vmalloc}, {"Shmem:", &h.Shmem},
	} {
		n, ok := field(b, x.key)
		switch {
		case err != nil:
			*x.into = Quantity{Missing: err.Error()}
		case !ok:
			*x.into = Quantity{Missing: "/proc/meminfo has no " + strings.TrimSuffix(x.key, ":")}
		default:
			x.into.Value = n << 10
		}
	}
	h.Threads = s.threads()
	own := s.process(os.Getpid())
	if h.Own.Value = own.pss; own.err != nil {
		h.Own = Quantity{Missing: own.err.Error()}
	}
	return h
}

// threads is the second number of the fourth word of /proc/loadavg, 1/94.
func (s *survey) threads() Quantity {
	b, err := os.ReadFile(s.m.path("/proc/loadavg"))
	if err != nil {
		return Quantity{Missing: err.Error()}
	}
	f := strings.Fields(string(b))
	if len(f) != 5 {
		return Quantity{Missing: "/proc/loadavg is not understood"}
	}
	_, all, _ := strings.Cut(f[3], "/")
	n, _, ok := number([]byte(all))
	if !ok {
		return Quantity{Missing: "/proc/loadavg is not understood"}
	}
	return Quantity{Value: n}
}
