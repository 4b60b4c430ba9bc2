//go:build linux

package collect

import "errors"

// single is one file of the kernel's.
type single struct {
	file
	parse func(b []byte, out []int64) bool
}

func (s *single) read(out []int64, buf []byte) error {
	b, err := s.file.read(buf)
	if err != nil {
		return err
	}
	if !s.parse(b, out) {
		return s.odd(b)
	}
	return nil
}

func openSingle(name string, parse func(b []byte, out []int64) bool) (instrument, error) {
	f, err := openFile(name)
	if err != nil {
		return nil, err
	}
	return &single{f, parse}, nil
}

// openGroup opens a file of the payload's group: v1 below its controller's
// directory, or v2.
func openGroup(t *target, controller, v1, v2 string, parse1, parse2 func(b []byte, out []int64) bool) (instrument, error) {
	dir, two, err := t.group.dir(controller)
	if err != nil {
		return nil, err
	}
	if two {
		return openSingle(dir+"/"+v2, parse2)
	}
	return openSingle(dir+"/"+v1, parse1)
}

func one(b []byte, out []int64) (ok bool) {
	out[0], _, ok = number(b)
	return ok
}

// scaled reads the number of a line by its key.
func scaled(key string, scale int64) func(b []byte, out []int64) bool {
	return func(b []byte, out []int64) bool {
		n, ok := field(b, key)
		out[0] = n * scale
		return ok
	}
}

func openGroupCPU(t *target) (instrument, error) {
	return openGroup(t, cpuacct, "cpuacct.usage", "cpu.stat", one, scaled("usage_usec ", 1000))
}

func openGroupThrottle(t *target) (instrument, error) {
	in, err := openGroup(t, cpuCtl, "cpu.stat", "cpu.stat", scaled("throttled_time ", 1), scaled("throttled_usec ", 1000))
	if err != nil {
		return nil, err
	}
	// Version 2 has the line only where the controller is on for the group.
	return absentIfOdd(in, "the controller cpu is not on for the group")
}

// absentIfOdd tries a reading once: where it does not parse, there is none.
func absentIfOdd(in instrument, why string) (instrument, error) {
	s := in.(*single)
	b, err := s.file.read(make([]byte, 4096))
	if err == nil && !s.parse(b, make([]int64, 4)) {
		s.close()
		return nil, absent("%s", why)
	}
	return in, nil
}

func openGroupMemory(t *target) (instrument, error) {
	return openGroup(t, memoryCtl, "memory.usage_in_bytes", "memory.current", one, one)
}

// openGroupMemoryPeak is the kernel's own account; version 2 has it from Linux
// 5.19 on.
func openGroupMemoryPeak(t *target) (instrument, error) {
	return openGroup(t, memoryCtl, "memory.max_usage_in_bytes", "memory.peak", one, one)
}

// memoryParts1 is version 1's split: the kernel's own part is another file.
type memoryParts1 struct{ stat, kernel file }

func openGroupMemoryParts(t *target) (instrument, error) {
	dir, two, err := t.group.dir(memoryCtl)
	if err != nil {
		return nil, err
	}
	if two {
		return openSingle(dir+"/memory.stat", parseMemoryStat2)
	}
	stat, err := openFile(dir + "/memory.stat")
	if err != nil {
		return nil, err
	}
	kernel, err := openFile(dir + "/memory.kmem.usage_in_bytes")
	if err != nil && !errors.Is(err, errAbsent) {
		stat.close()
		return nil, err
	}
	return &memoryParts1{stat, kernel}, nil
}

func (p *memoryParts1) read(out []int64, buf []byte) error {
	b, err := p.stat.read(buf)
	if err != nil {
		return err
	}
	var ok1, ok2 bool
	out[0], ok1 = field(b, "total_rss ")
	out[1], ok2 = field(b, "total_cache ")
	if !ok1 || !ok2 {
		return p.stat.odd(b)
	}
	if p.kernel.fd >= 0 {
		out[2], err = p.kernel.number(buf)
	}
	return err
}

func (p *memoryParts1) close() { p.stat.close(); p.kernel.close() }

// parseMemoryStat2 reads version 2's memory.stat. Before Linux 5.18 the sum of
// the kernel's memory is not there, but its parts are.
func parseMemoryStat2(b []byte, out []int64) bool {
	var ok1, ok2, ok3 bool
	out[0], ok1 = field(b, "anon ")
	out[1], ok2 = field(b, "file ")
	if out[2], ok3 = field(b, "kernel "); !ok3 {
		for _, key := range [...]string{"kernel_stack ", "pagetables ", "percpu ", "slab "} {
			n, ok := field(b, key)
			ok3 = ok3 || ok
			out[2] += n
		}
	}
	return ok1 && ok2 && ok3
}

func openGroupBlock(t *target) (instrument, error) {
	dir, two, err := t.group.dir(blkioCtl)
	if err != nil {
		return nil, err
	}
	disks := t.m.disks
	if two {
		return openEmpty(dir+"/io.stat", func(b []byte, out []int64) (ok bool) {
			out[0], out[1], ok = parseIOStat(b, disks)
			return ok
		})
	}
	return openEmpty(dir+"/blkio.throttle.io_service_bytes_recursive", func(b []byte, out []int64) (ok bool) {
		out[0], out[1], ok = parseBlkio(b, disks)
		return ok
	})
}

// openEmpty is for a file that is empty where there is nothing to say.
func openEmpty(name string, parse func(b []byte, out []int64) bool) (instrument, error) {
	f, err := openFile(name)
	if err != nil {
		return nil, err
	}
	return &maybeEmpty{single{f, parse}}, nil
}

type maybeEmpty struct{ single }

func (s *maybeEmpty) read(out []int64, buf []byte) error {
	err := s.single.read(out, buf)
	if errors.Is(err, errEmpty) {
		out[0], out[1] = 0, 0
		return nil
	}
	return err
}

// pressures are the three files of the unified tree; version 1 has none, but a
// hybrid machine has both.
type pressures struct{ files [3]file }

// openPressures opens them: before is what stands before "cpu" in their names,
// after what follows.
func openPressures(before, after string) (instrument, error) {
	p := &pressures{}
	for i := range p.files {
		p.files[i].fd = -1
	}
	for i, name := range [...]string{"cpu", "memory", "io"} {
		f, err := openFile(before + name + after)
		if err == nil {
			p.files[i] = f
			// The kernel lists them and can't serve them where it is switched off.
			_, err = f.read(make([]byte, 256))
		}
		if err != nil {
			p.close()
			return nil, err
		}
	}
	return p, nil
}

func openGroupPressure(t *target) (instrument, error) {
	dir, ok := t.group.own[unifiedTree]
	if !ok {
		return nil, absent("the payload has no control group of version 2 of its own")
	}
	return openPressures(dir+"/", ".pressure")
}

func (p *pressures) read(out []int64, buf []byte) error {
	for i, f := range p.files {
		b, err := f.read(buf)
		if err != nil {
			return err
		}
		var ok bool
		if out[i], ok = parsePressure(b); !ok {
			return f.odd(b)
		}
	}
	return nil
}

func (p *pressures) close() {
	for _, f := range p.files {
		f.close()
	}
}

func openGroupProcesses(t *target) (instrument, error) {
	return openGroup(t, pidsCtl, "pids.current", "pids.current", one, one)
}
