//go:build linux

package host

import (
	"errors"

	"plimsoll/internal/record"
)

// Sampler says what else happened on the host between Begin and End. It costs
// a few reads of open files at each end, which lie outside of what is timed.
type Sampler struct {
	stat         *kfile // nil where nothing can be stolen: no hypervisor
	cpu, mem, io *kfile // nil where the kernel has no PSI
	before       record.Disturbance
}

// NewSampler opens what is to be watched.
func (m Machine) NewSampler() (*Sampler, error) {
	s := &Sampler{}
	var err error
	open := func(p string, size int) *kfile {
		k, e := openKfile(m, p, size)
		err = errors.Join(err, e)
		return k
	}
	// The kernel prints a line for each CPU and a number for each interrupt
	// whenever /proc/stat is read, which is dear on a large machine; a machine
	// without hypervisor has no steal to read.
	if cpu, e := parse(m, "/proc/cpuinfo", parseCPUInfo); e != nil || m.hypervisor(cpu) != "" {
		s.stat = open("/proc/stat", 256)
	}
	s.cpu = open("/proc/pressure/cpu", 256)
	s.mem = open("/proc/pressure/memory", 256)
	s.io = open("/proc/pressure/io", 256)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Begin notes where the counters stand.
func (s *Sampler) Begin() { s.before = s.now() }

// End gives how far the counters went since Begin. A counter that the kernel
// has not, or that went backwards (steal may), is 0. Steal has a grain of
// 10 ms, pressure of 1 µs.
func (s *Sampler) End() *record.Disturbance {
	n, b := s.now(), s.before
	return &record.Disturbance{
		StealNS:          grown(b.StealNS, n.StealNS),
		CPUPressureNS:    grown(b.CPUPressureNS, n.CPUPressureNS),
		MemoryPressureNS: grown(b.MemoryPressureNS, n.MemoryPressureNS),
		IOPressureNS:     grown(b.IOPressureNS, n.IOPressureNS),
	}
}

func grown(before, now int64) int64 {
	if before < 0 || now < 0 {
		return 0 // one of the two could not be read
	}
	return max(0, now-before)
}

func (s *Sampler) now() record.Disturbance {
	d := record.Disturbance{
		StealNS:          -1,
		CPUPressureNS:    s.cpu.total(),
		MemoryPressureNS: s.mem.total(),
		IOPressureNS:     s.io.total(),
	}
	if t, ok := s.stat.ticks(); ok {
		d.StealNS = t.Steal * nsPerTick
	}
	return d
}

// ticks reads /proc/stat; false where it can't be had.
func (k *kfile) ticks() (cpuTicks, bool) {
	if k == nil {
		return cpuTicks{}, false
	}
	b, err := k.read()
	if err != nil {
		return cpuTicks{}, false
	}
	return parseTicks(b)
}

// total reads a counter of microseconds, in nanoseconds; -1 where it can't be had.
func (k *kfile) total() int64 {
	if k == nil {
		return -1
	}
	b, err := k.read()
	if err != nil {
		return -1
	}
	n, ok := field(b, "total=")
	if !ok {
		return -1
	}
	return n * 1000
}

// Close closes what was opened.
func (s *Sampler) Close() error {
	return errors.Join(s.stat.Close(), s.cpu.Close(), s.mem.Close(), s.io.Close())
}
