package trace

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// mapping is where a part of a file lies in a process's memory, to be executed.
type mapping struct {
	pid              int
	from, to, offset uint64
	file             string
}

// parseMapping reads a mapping (perf_event_open(2), "PERF_RECORD_MMAP2").
func parseMapping(b []byte) (mapping, bool) {
	const name = 8 + 3*8 + 4*2 + 8*2 + 4*2
	if len(b) < name {
		return mapping{}, false
	}
	m := mapping{
		pid:  int(int32(binary.NativeEndian.Uint32(b))),
		from: binary.NativeEndian.Uint64(b[8:]), offset: binary.NativeEndian.Uint64(b[24:]),
	}
	m.to = m.from + binary.NativeEndian.Uint64(b[16:])
	m.file, _, _ = strings.Cut(string(b[name:]), "\x00")
	return m, m.to > m.from
}

// mappings are those that a process has now.
func mappings(pid int) []mapping {
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "maps"))
	if err != nil {
		return nil // it has ended
	}
	var all []mapping
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line)
		if len(f) < 6 || !strings.Contains(f[1], "x") || !strings.HasPrefix(f[5], "/") {
			continue
		}
		a, z, _ := strings.Cut(f[0], "-")
		m := mapping{pid: pid, file: f[5]}
		var errs [3]error
		m.from, errs[0] = strconv.ParseUint(a, 16, 64)
		m.to, errs[1] = strconv.ParseUint(z, 16, 64)
		m.offset, errs[2] = strconv.ParseUint(f[2], 16, 64)
		if errs == [3]error{} {
			all = append(all, m)
		}
	}
	return all
}

// programs are the files whose functions were read, and where processes have them.
type programs struct {
	files map[string]*program
	kept  kept // those of the starts before, too
	maps  map[int][]mapping
	// parents are the processes that made others: what they had, these have too
	// until they execute a program.
	parents map[int]int
}

func newPrograms(k kept) *programs {
	return &programs{files: map[string]*program{}, kept: k, maps: map[int][]mapping{}, parents: map[int]int{}}
}

// of finds what lies at an address of a process.
func (p *programs) of(pid int, at uint64) (module, function string) {
	for range 16 {
		all := p.maps[pid]
		for i := len(all) - 1; i >= 0; i-- {
			if m := all[i]; at >= m.from && at < m.to {
				f := p.file(p.source(pid, m.file))
				return f.name, f.function(at - m.from + m.offset)
			}
		}
		// What a process maps itself it has beside what it was born with.
		var ok bool
		if pid, ok = p.parents[pid]; !ok {
			break
		}
	}
	return "", ""
}

func (p *programs) file(name string) *program {
	f := p.files[name]
	if f == nil {
		f = p.kept.open(name)
		p.files[name] = f
	}
	return f
}

// source is the file that a mapping is of. What a process executes as a copy that has
// no name (runc does, so that no container can overwrite it) is of the program that
// its parent is.
func (p *programs) source(pid int, file string) string {
	if file != "/" && !strings.HasPrefix(file, "/memfd:") && !strings.HasSuffix(file, " (deleted)") {
		return file
	}
	for range 16 {
		for _, m := range p.maps[pid] {
			if strings.HasPrefix(m.file, "/") && len(m.file) > 1 && !strings.HasPrefix(m.file, "/memfd:") && !strings.Contains(m.file, ".so") && !strings.HasSuffix(m.file, " (deleted)") {
				return m.file
			}
		}
		var ok bool
		if pid, ok = p.parents[pid]; !ok {
			break
		}
	}
	return file
}

// part names what a process was busy with, from its stack.
func (p *programs) part(pid int, chain []uint64) string {
	stack := make([]string, 0, len(chain))
	module := ""
	for i, at := range chain {
		m, f := p.of(pid, at)
		if i == 0 {
			module = m
		}
		stack = append(stack, f)
	}
	return part(stack, module)
}
