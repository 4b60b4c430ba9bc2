package run

import (
	"errors"
	"io/fs"

	"plimsoll/internal/measure/host/proc"
)

// meminfo is what we need of /proc/meminfo, in bytes. What the kernel does not
// tell is 0. Available and Free have what lies in the processors' own lists too, which
// is as free as the rest.
type meminfo struct {
	Total, Available, Free, Shmem int64

	// kernel is the memory that the kernel itself takes and does not give back
	// under pressure. Vmalloc contains the stacks where those are mapped there
	// (CONFIG_VMAP_STACK, everywhere by now), so the stacks are not added to it.
	kernel int64
}

func readMeminfo(d proc.Dir) (meminfo, error) {
	m, err := withoutLists(d)
	if err != nil {
		return meminfo{}, err
	}
	listed, err := d.Listed()
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
		return meminfo{}, err
	}
	m.Available += listed
	if m.Free > 0 {
		m.Free += listed
	}
	return m, nil
}

// withoutLists is readMeminfo without what lies in the lists: to tell of those the kernel
// locks each zone, the longer the more processors there are.
func withoutLists(d proc.Dir) (meminfo, error) {
	m, err := d.Memory()
	if err != nil {
		return meminfo{}, err
	}
	if m.MemTotalBytes == nil || m.MemAvailableBytes == nil {
		return meminfo{}, errors.New("/proc/meminfo has no MemTotal or no MemAvailable")
	}
	told := func(n *uint64) int64 {
		if n == nil {
			return 0
		}
		return int64(*n)
	}
	return meminfo{Total: told(m.MemTotalBytes), Available: told(m.MemAvailableBytes), Free: told(m.MemFreeBytes), Shmem: told(m.ShmemBytes),
		kernel: told(m.SUnreclaimBytes) + told(m.PageTablesBytes) + told(m.SecPageTablesBytes) +
			max(told(m.KernelStackBytes), told(m.VmallocUsedBytes)) + told(m.PercpuBytes)}, nil
}
