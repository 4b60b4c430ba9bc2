package trace

import (
	"os"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"plimsoll/internal/record"
)

// BenchmarkWait is what a wait and its end take, followed in each way and not at all:
// two threads hand a byte to each other, which is two waits.
func BenchmarkWait(b *testing.B) {
	if os.Geteuid() != 0 {
		b.Skip("tracing needs root")
	}
	for _, c := range []struct {
		name string
		opts *Options
	}{
		{"untraced", nil},
		{"events", &Options{}},
		{"stacks", &Options{Stacks: true}},
		{"stacks+code", &Options{Stacks: true, Code: true}},
		{"all-calls", &Options{Stacks: true, Code: true, AllCalls: true}},
	} {
		b.Run(c.name, func(b *testing.B) {
			if c.opts == nil {
				handOver(b)
				return
			}
			opts := *c.opts
			opts.Pages = 1 << 14
			r, err := Open(opts)
			if err != nil {
				b.Skipf("this kernel can't be traced: %v", err)
			}
			defer func() { _ = r.Close() }()
			var lost int64
			if _, err := r.Record(func() (record.TraceHead, error) { handOver(b); return record.TraceHead{}, nil }); err != nil {
				b.Fatal(err)
			}
			for _, ring := range r.rings {
				lost += ring.lost
			}
			if lost > 0 {
				b.Logf("%d events were lost", lost)
			}
		})
	}
}

// handOver hands a byte to another thread and takes one back, so often.
func handOver(b *testing.B) {
	var to, from [2]int
	must(unix.Pipe2(to[:], unix.O_CLOEXEC))
	must(unix.Pipe2(from[:], unix.O_CLOEXEC))
	done := make(chan struct{})
	go func() {
		runtime.LockOSThread()
		defer close(done)
		var x [1]byte
		for {
			if n, _ := unix.Read(to[0], x[:]); n != 1 {
				return
			}
			_, _ = unix.Write(from[1], x[:])
		}
	}()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var x [1]byte
	b.ResetTimer()
	for range b.N {
		_, _ = unix.Write(to[1], x[:])
		_, _ = unix.Read(from[0], x[:])
	}
	b.StopTimer()
	_ = unix.Close(to[1])
	<-done
	for _, fd := range []int{to[0], from[0], from[1]} {
		_ = unix.Close(fd)
	}
}

// BenchmarkCall is what the shortest of system calls takes, followed in each way.
func BenchmarkCall(b *testing.B) {
	if os.Geteuid() != 0 {
		b.Skip("tracing needs root")
	}
	ask := func(b *testing.B) {
		for range b.N {
			unix.Getppid()
		}
	}
	b.Run("untraced", ask)
	for name, noPrograms := range map[string]bool{"programs": false, "perf-events": true} {
		b.Run(name, func(b *testing.B) {
			r, err := Open(Options{AllCalls: true, Pages: 1 << 14, noPrograms: noPrograms})
			if err != nil {
				b.Skipf("this kernel can't be traced: %v", err)
			}
			defer func() { _ = r.Close() }()
			if _, err := r.Record(func() (record.TraceHead, error) {
				b.ResetTimer()
				ask(b)
				b.StopTimer()
				return record.TraceHead{}, nil
			}); err != nil {
				b.Fatal(err)
			}
		})
	}
}
