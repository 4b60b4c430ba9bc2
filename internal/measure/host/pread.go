//go:build linux

package host

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// kfile is a kernel file that stays open and is read again from its start:
// half the price of opening it anew, and nothing is allocated.
type kfile struct {
	name string
	f    *os.File
	buf  []byte
}

// openKfile opens a file; one that is absent gives nil and no error, and so
// does one that the kernel lists but can't serve (PSI switched off).
func openKfile(m Machine, p string, size int) (*kfile, error) {
	f, err := os.Open(m.path(p))
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.EOPNOTSUPP) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("opening a file of the kernel to watch it: %w", err)
	}
	k := &kfile{name: p, f: f, buf: make([]byte, size)}
	if _, err := k.read(); err != nil {
		f.Close()
		if errors.Is(err, unix.EOPNOTSUPP) {
			return nil, nil
		}
		return nil, err
	}
	return k, nil
}

// read gives the first bytes of the file, valid until the next read.
func (k *kfile) read() ([]byte, error) {
	n, err := unix.Pread(int(k.f.Fd()), k.buf, 0)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", k.name, err)
	}
	if n == 0 {
		return nil, fmt.Errorf("reading %s: %w", k.name, io.ErrUnexpectedEOF)
	}
	return k.buf[:n], nil
}

func (k *kfile) Close() error {
	if k == nil {
		return nil
	}
	return k.f.Close()
}

// field finds the number after a key, at a line's start or after a space, as
// in "some avg10=0.00 total=123" (key "total=") or "nr_throttled 3" (key
// "nr_throttled "). The first match counts.
func field(b []byte, key string) (int64, bool) {
	for from := 0; ; {
		i := bytes.Index(b[from:], []byte(key))
		if i < 0 {
			return 0, false
		}
		i += from
		if i == 0 || b[i-1] == '\n' || b[i-1] == ' ' {
			n, _, ok := number(b[i+len(key):])
			return n, ok
		}
		from = i + 1
	}
}

// number reads the decimal digits at the start of b and gives what follows.
func number(b []byte) (n int64, rest []byte, ok bool) {
	i := 0
	for ; i < len(b) && b[i] >= '0' && b[i] <= '9'; i++ {
		if n > (1<<63-1-9)/10 {
			return 0, b, false
		}
		n = n*10 + int64(b[i]-'0')
	}
	return n, b[i:], i > 0
}

// userHZ is the unit of /proc/stat: it is 100 on every architecture that Go
// runs on (USER_HZ, not the kernel's own HZ).
const nsPerTick = 1e9 / 100

// cpuTicks are the columns of the first line of /proc/stat; source: proc(5).
// User holds guest time already.
type cpuTicks struct {
	User, Nice, System, Idle, IOWait, IRQ, SoftIRQ, Steal int64
}

// total is all time, idle time too.
func (c cpuTicks) total() int64 { return c.busy() + c.Idle + c.IOWait }

// busy is the time in which CPUs worked, or would have but for the hypervisor.
func (c cpuTicks) busy() int64 {
	return c.User + c.Nice + c.System + c.IRQ + c.SoftIRQ + c.Steal
}

func (c cpuTicks) minus(o cpuTicks) cpuTicks {
	return cpuTicks{c.User - o.User, c.Nice - o.Nice, c.System - o.System, c.Idle - o.Idle,
		c.IOWait - o.IOWait, c.IRQ - o.IRQ, c.SoftIRQ - o.SoftIRQ, c.Steal - o.Steal}
}

// parseTicks reads the first line of /proc/stat.
func parseTicks(b []byte) (cpuTicks, bool) {
	var c cpuTicks
	b, ok := bytes.CutPrefix(b, []byte("cpu "))
	if !ok {
		return c, false
	}
	for _, v := range []*int64{&c.User, &c.Nice, &c.System, &c.Idle, &c.IOWait, &c.IRQ, &c.SoftIRQ, &c.Steal} {
		b = bytes.TrimLeft(b, " ")
		if *v, b, ok = number(b); !ok {
			return cpuTicks{}, false
		}
	}
	return c, true
}

// parseRunning reads the number of runnable threads from /proc/loadavg,
// "0.05 0.03 0.04 1/94 8077": at least one, the reader.
func parseRunning(b []byte) (int64, bool) {
	for range 3 {
		_, rest, ok := bytes.Cut(b, []byte(" "))
		if !ok {
			return 0, false
		}
		b = rest
	}
	n, rest, ok := number(b)
	return n, ok && len(rest) > 0 && rest[0] == '/'
}
