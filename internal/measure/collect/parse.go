package collect

import (
	"bytes"
	"math"
	"slices"
)

// The parsers of the sampled path. They allocate nothing, take any bytes, and
// say false where a file is not what it should be. Tests compare them with
// prometheus/procfs and containerd/cgroups on the same files.

// number reads the decimal digits at the start of b, after blanks, and gives
// what follows.
func number(b []byte) (n int64, rest []byte, ok bool) {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t') {
		b = b[1:]
	}
	i := 0
	for ; i < len(b) && b[i] >= '0' && b[i] <= '9'; i++ {
		if n > (math.MaxInt64-9)/10 {
			return 0, b, false
		}
		n = n*10 + int64(b[i]-'0')
	}
	return n, b[i:], i > 0
}

// numbers reads so many numbers that are parted by blanks.
func numbers(b []byte, out ...*int64) (ok bool) {
	for _, n := range out {
		if *n, b, ok = number(b); !ok {
			return false
		}
	}
	return true
}

// skip passes over so many words.
func skip(b []byte, words int) []byte {
	for range words {
		b = bytes.TrimLeft(b, " ")
		i := bytes.IndexByte(b, ' ')
		if i < 0 {
			return nil
		}
		b = b[i:]
	}
	return b
}

// line cuts the first line off.
func line(b []byte) (first, rest []byte) {
	if i := bytes.IndexByte(b, '\n'); i >= 0 {
		return b[:i], b[i+1:]
	}
	return b, nil
}

// field finds the number in the line that begins with key, as "anon " in
// memory.stat or "MemFree:" in /proc/meminfo.
func field(b []byte, key string) (int64, bool) {
	for len(b) > 0 {
		var l []byte
		l, b = line(b)
		if len(l) > len(key) && string(l[:len(key)]) == key {
			n, _, ok := number(l[len(key):])
			return n, ok
		}
	}
	return 0, false
}

// userHZ is the unit of times in /proc: 100 on every architecture that Go runs
// on, whatever the kernel's own HZ.
const nsPerTick = int64(1e9 / 100)

// cpuTimes are what /proc/stat says of all processors together, ns.
type cpuTimes struct {
	user, system, idle, iowait, steal int64
	switches, forks, running          int64
}

// parseStat reads /proc/stat; source: proc(5). Guest time is in user already.
func parseStat(b []byte) (c cpuTimes, ok bool) {
	first, rest := line(b)
	first, ok = bytes.CutPrefix(first, []byte("cpu "))
	if !ok {
		return c, false
	}
	var nice, irq, soft int64
	if !numbers(first, &c.user, &nice, &c.system, &c.idle, &c.iowait, &irq, &soft, &c.steal) {
		return c, false
	}
	c.user = (c.user + nice) * nsPerTick
	c.system = (c.system + irq + soft) * nsPerTick
	c.idle *= nsPerTick
	c.iowait *= nsPerTick
	c.steal *= nsPerTick
	if c.switches, ok = field(rest, "ctxt "); !ok {
		return c, false
	}
	if c.forks, ok = field(rest, "processes "); !ok {
		return c, false
	}
	c.running, ok = field(rest, "procs_running ")
	return c, ok
}

// sector is the unit of the kernel's block statistics, whatever the disk's own.
const sector = 512

// parseBlockStat reads /sys/block/DISK/stat: bytes read and written; source:
// Documentation/block/stat.rst.
func parseBlockStat(b []byte) (read, written int64, ok bool) {
	var skipped int64
	ok = numbers(b, &skipped, &skipped, &read, &skipped, &skipped, &skipped, &written)
	return read * sector, written * sector, ok
}

// parseNetDev reads /proc/PID/net/dev and sums all interfaces but the loopback.
func parseNetDev(b []byte) (received, sent int64, ok bool) {
	_, b = line(b)
	_, b = line(b)
	for len(b) > 0 {
		var l []byte
		l, b = line(b)
		name, rest, found := bytes.Cut(l, []byte(":"))
		if !found {
			return 0, 0, false
		}
		if name = bytes.TrimLeft(name, " "); string(name) == "lo" {
			continue
		}
		rx, _, okR := number(rest)
		tx, _, okT := number(skip(rest, 8))
		if !okR || !okT {
			return 0, 0, false
		}
		received, sent = received+rx, sent+tx
	}
	return received, sent, true
}

// device is a disk by its number.
type device struct{ major, minor int64 }

// counted says whether a disk counts: with no list, all do.
func counted(disks []device, d device) bool {
	return len(disks) == 0 || slices.Contains(disks, d)
}

// cutDevice cuts "8:16" off.
func cutDevice(b []byte) (d device, rest []byte, ok bool) {
	if d.major, b, ok = number(b); !ok || len(b) == 0 || b[0] != ':' {
		return d, b, false
	}
	d.minor, b, ok = number(b[1:])
	return d, b, ok
}

// parseBlkio reads blkio.throttle.io_service_bytes (version 1): lines such as
// "8:0 Read 4096", and a last one "Total 4096".
func parseBlkio(b []byte, disks []device) (read, written int64, ok bool) {
	for len(b) > 0 {
		var l []byte
		l, b = line(b)
		if bytes.HasPrefix(l, []byte("Total ")) || len(l) == 0 {
			continue
		}
		d, rest, ok := cutDevice(l)
		if !ok {
			return 0, 0, false
		}
		var into *int64
		switch {
		case bytes.HasPrefix(rest, []byte(" Read ")):
			into, rest = &read, rest[6:]
		case bytes.HasPrefix(rest, []byte(" Write ")):
			into, rest = &written, rest[7:]
		default:
			continue // Sync, Async, Discard, Total: other views of the same
		}
		n, _, ok := number(rest)
		if !ok {
			return 0, 0, false
		}
		if counted(disks, d) {
			*into += n
		}
	}
	return read, written, true
}

// parseIOStat reads io.stat (version 2): lines such as
// "8:0 rbytes=1 wbytes=2 rios=3 wios=4 dbytes=5 dios=6".
func parseIOStat(b []byte, disks []device) (read, written int64, ok bool) {
	for len(b) > 0 {
		var l []byte
		l, b = line(b)
		if len(l) == 0 {
			continue
		}
		d, rest, ok := cutDevice(l)
		if !ok {
			return 0, 0, false
		}
		r, w := bytes.Index(rest, []byte(" rbytes=")), bytes.Index(rest, []byte(" wbytes="))
		if r < 0 || w < 0 {
			continue // a disk without traffic may have a line of its number only
		}
		nr, _, okR := number(rest[r+8:])
		nw, _, okW := number(rest[w+8:])
		if !okR || !okW {
			return 0, 0, false
		}
		if counted(disks, d) {
			read, written = read+nr, written+nw
		}
	}
	return read, written, true
}

// parsePressure reads the first line of a pressure file: how long somebody
// waited ("some"), ns.
func parsePressure(b []byte) (int64, bool) {
	l, _ := line(b)
	i := bytes.Index(l, []byte(" total="))
	if i < 0 || !bytes.HasPrefix(l, []byte("some ")) {
		return 0, false
	}
	n, _, ok := number(l[i+7:])
	if n > math.MaxInt64/1000 {
		return 0, false
	}
	return n * 1000, ok
}
