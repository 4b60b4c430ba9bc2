package collect

import "bytes"

// parseSmaps reads smaps_rollup: the proportional set size, and what is shared
// with nobody, bytes.
func parseSmaps(b []byte) (pss, uss int64, ok bool) {
	pss, ok = field(b, "Pss:")
	if !ok {
		return 0, 0, false
	}
	for _, key := range [...]string{"Private_Clean:", "Private_Dirty:", "Private_Hugetlb:"} {
		n, _ := field(b, key) // the last of them is younger
		uss += n
	}
	return pss << 10, uss << 10, true
}

// parseProcessIO reads /proc/PID/io: bytes that had to come from storage, and
// that will have to go there.
func parseProcessIO(b []byte) (read, written int64, ok bool) {
	read, ok = field(b, "read_bytes:")
	if !ok {
		return 0, 0, false
	}
	written, ok = field(b, "write_bytes:")
	return read, written, ok
}

// parseSwitches reads the context switches of a thread from its status.
func parseSwitches(b []byte) (int64, bool) {
	v, ok := field(b, "voluntary_ctxt_switches:")
	if !ok {
		return 0, false
	}
	n, ok := field(b, "nonvoluntary_ctxt_switches:")
	return v + n, ok
}

// process is what we need of /proc/PID/stat; source: proc(5).
type process struct {
	parent   int64
	children int64 // CPU time of the children that it has waited for, ns
	born     int64 // ticks after boot
	state    byte
}

// parseProcess reads /proc/PID/stat. The name may hold blanks and parentheses.
func parseProcess(b []byte) (p process, ok bool) {
	i := bytes.LastIndexByte(b, ')')
	if i < 0 || len(b) < i+4 {
		return p, false
	}
	p.state = b[i+2]
	b = b[i+3:]
	var cu, cs int64
	if p.parent, _, ok = number(b); !ok {
		return p, false
	}
	if !numbers(skip(b, 12), &cu, &cs) {
		return p, false
	}
	p.children = (cu + cs) * nsPerTick
	p.born, _, ok = number(skip(b, 18))
	return p, ok
}

// parseLastPID reads the last word of /proc/loadavg: the newest process or
// thread.
func parseLastPID(b []byte) (int64, bool) {
	i := bytes.LastIndexByte(bytes.TrimRight(b, "\n"), ' ')
	if i < 0 {
		return 0, false
	}
	n, _, ok := number(b[i+1:])
	return n, ok
}
