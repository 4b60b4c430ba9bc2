//go:build linux

package host

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"plimsoll/internal/measure/host/proc"
	"plimsoll/internal/record"
)

const (
	mib = 1 << 20
	gib = 1 << 30

	memoryWanted = 1 * gib // free, for daemons and one container
	diskWanted   = 2 * gib // free, for images in every format
)

func checkMemory(r *reading) []record.Remark {
	mem, err := r.m.proc().Memory()
	if err != nil {
		return nil
	}
	var l []record.Remark
	if a := mem.MemAvailableBytes; a != nil && *a < memoryWanted {
		l = append(l, say(levelWarn, "memory-low", fmt.Sprintf("Only %d MiB of memory are available.", *a/mib), "end what uses the memory"))
	}
	if t, f := mem.SwapTotalBytes, mem.SwapFreeBytes; t != nil && f != nil && *t > *f && *t-*f >= mib {
		l = append(l, say(levelWarn, "swap", fmt.Sprintf("%d MiB lie in swap: what is needed from there comes late.", (*t-*f)/mib), "swapoff -a, where the memory is large enough"))
	}
	return l
}

func checkDisk(r *reading) []record.Remark {
	if r.exam.stateDir == "" {
		return nil
	}
	dir, err := filepath.Abs(r.exam.stateDir)
	if err != nil {
		return nil
	}
	for {
		free, err := r.exam.free(dir)
		if errors.Is(err, os.ErrNotExist) && dir != filepath.Dir(dir) {
			dir = filepath.Dir(dir) // it will be made there
			continue
		}
		if err == nil && free < diskWanted {
			return one(levelWarn, "disk-low", fmt.Sprintf("Only %d MiB are free under %s, where images and results are kept.", free/mib, dir), "make room, or choose another state directory")
		}
		return nil
	}
}

func checkRights(r *reading) []record.Remark {
	var l []record.Remark
	const sysResource = 24 // CAP_SYS_RESOURCE; include/uapi/linux/capability.h
	if r.facts.Root && r.status.CapEff>>sysResource&1 == 0 {
		l = append(l, say(levelInfo, "no-cap-sys-resource", "Root may not raise resource limits here (CAP_SYS_RESOURCE is missing): engines that try to will fail.",
			"give the capability to the environment that Plimsoll runs in, or set the engines' default limits below the present ones"))
	}
	limits, _ := r.m.proc().Limits(proc.Self)
	for _, w := range []struct {
		name, code, what, fix string
		want                  uint64
	}{
		{"Max open files", "rlimit-nofile", "files may be open", "ulimit -n 4096", 4096},
		{"Max processes", "rlimit-nproc", "processes may run", "ulimit -u 8192", 4096},
	} {
		if v, ok := limits[w.name]; ok && v.Hard < w.want {
			l = append(l, say(levelWarn, w.code, fmt.Sprintf("At most %d %s at a time: engines may fail or slow down at that limit.", v.Hard, w.what), w.fix))
		}
	}
	return l
}

// openGzip opens a compressed file for reading.
func openGzip(name string) (io.ReadCloser, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	z, err := gzip.NewReader(f)
	if err != nil {
		f.Close()
		return nil, err
	}
	return struct {
		io.Reader
		io.Closer
	}{z, f}, nil
}
