//go:build linux

package collect

import (
	"cmp"
	"fmt"
	"strings"
)

func openHostCPU(t *target) (instrument, error) {
	return openSingle(t.m.path("/proc/stat"), func(b []byte, out []int64) bool {
		c, ok := parseStat(b)
		out[0], out[1], out[2], out[3], out[4] = c.user, c.system, c.idle, c.iowait, c.steal
		out[5], out[6], out[7] = c.switches, c.forks, c.running
		return ok
	})
}

// memoryKeys are the lines of /proc/meminfo in the order of the columns.
var memoryKeys = [...]string{"MemAvailable:", "MemFree:", "Cached:", "Buffers:", "Slab:", "Dirty:"}

func openHostMemory(t *target) (instrument, error) {
	return openSingle(t.m.path("/proc/meminfo"), func(b []byte, out []int64) bool {
		for i, key := range memoryKeys {
			n, ok := field(b, key)
			if !ok {
				return false
			}
			out[i] = n << 10
		}
		return true
	})
}

func openHostPressure(t *target) (instrument, error) {
	return openPressures(t.m.path("/proc/pressure")+"/", "")
}

// total sums up the numbers of files of several devices.
type total struct {
	files []file
	parse func(b []byte, out []int64) bool
	each  [2]int64
}

func (s *total) read(out []int64, buf []byte) error {
	out[0], out[1] = 0, 0
	for _, f := range s.files {
		b, err := f.read(buf)
		if err != nil {
			return err
		}
		if !s.parse(b, s.each[:]) {
			return f.odd(b)
		}
		out[0] += s.each[0]
		out[1] += s.each[1]
	}
	return nil
}

func (s *total) close() {
	for _, f := range s.files {
		f.close()
	}
}

func openTotal(names []string, parse func(b []byte, out []int64) bool) (instrument, error) {
	s := &total{parse: parse}
	for _, name := range names {
		f, err := openFile(name)
		if err != nil {
			s.close()
			return nil, err
		}
		s.files = append(s.files, f)
	}
	return s, nil
}

func openHostBlock(t *target) (instrument, error) {
	if len(t.m.diskStats) == 0 {
		return nil, absent("no disk of this machine has a device behind it")
	}
	return openTotal(t.m.diskStats, func(b []byte, out []int64) (ok bool) {
		out[0], out[1], ok = parseBlockStat(b)
		return ok
	})
}

// hostNetwork reads the two counters of each real interface.
type hostNetwork struct{ received, sent []file }

func openHostNetwork(t *target) (instrument, error) {
	if len(t.m.nics) == 0 {
		return nil, absent("no network interface of this machine has a device behind it")
	}
	h := &hostNetwork{}
	for _, nic := range t.m.nics {
		dir := t.m.path("/sys/class/net/"+nic+"/statistics") + "/"
		r, err1 := openFile(dir + "rx_bytes")
		s, err2 := openFile(dir + "tx_bytes")
		h.received, h.sent = append(h.received, r), append(h.sent, s)
		if err1 != nil || err2 != nil {
			h.close()
			return nil, fmt.Errorf("watching interface %s: %w", nic, cmp.Or(err1, err2))
		}
	}
	return h, nil
}

func (h *hostNetwork) read(out []int64, buf []byte) error {
	out[0], out[1] = 0, 0
	for i := range h.received {
		r, err := h.received[i].number(buf)
		if err != nil {
			return err
		}
		s, err := h.sent[i].number(buf)
		if err != nil {
			return err
		}
		out[0] += r
		out[1] += s
	}
	return nil
}

func (h *hostNetwork) close() {
	for i := range h.received {
		h.received[i].close()
		h.sent[i].close()
	}
}

// ownCPU gives what sampling has cost up to the sample before.
type ownCPU struct{ spent *int64 }

func openOwnCPU(t *target) (instrument, error) { return ownCPU{t.own}, nil }

func (o ownCPU) read(out []int64, _ []byte) error {
	out[0] = *o.spent
	return nil
}

func (ownCPU) close() {}

// kernelName is the name that a file below /sys holds.
func kernelName(b []byte) string { return strings.TrimSpace(string(b)) }
