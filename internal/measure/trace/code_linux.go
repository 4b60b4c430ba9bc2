package trace

import (
	"bytes"
	"cmp"
	"debug/elf"
	"debug/gosym"
	"os"
	"path"
	"slices"
	"sort"
	"strings"
)

// program is what a file that is executed, or a library, says of its own code.
type program struct {
	name string
	// loads are its executable segments.
	loads []elf.ProgHeader
	// table is of a Go program: it has its functions' names even where its
	// symbols were taken out.
	table *gosym.Table
	// at and names are the symbols of any other.
	at    []uint64
	names []string
}

// openProgram reads a file's functions. What can't be read is a program without
// any: its name is known all the same.
func openProgram(file string) *program {
	p := &program{name: path.Base(file)}
	data, err := os.Open(file)
	if err != nil {
		return p
	}
	defer data.Close()
	f, err := elf.NewFile(data)
	if err != nil {
		return p
	}
	defer func() { _ = f.Close() }()
	for _, s := range f.Progs {
		if s.Type == elf.PT_LOAD && s.Flags&elf.PF_X != 0 {
			p.loads = append(p.loads, s.ProgHeader)
		}
	}
	s := f.Section(".gopclntab")
	if s == nil {
		s = f.Section(".data.rel.ro.gopclntab")
	}
	if s != nil {
		if lines, err := s.Data(); err == nil && f.Section(".text") != nil {
			p.table = goTable(lines, goText(f, s, lines))
		}
	}
	if p.table == nil {
		p.symbols(f)
	}
	return p
}

// goText is where the functions of a Go program begin. Where it was linked with code in
// C, that stands before them in the same section, and only Go's own data say where: until
// Go 1.25 the head of the table (runtime.pcHeader, textStart), from 1.26 on the data of the
// module (runtime.moduledata, text), which have a section of their own.
func goText(f *elf.File, table *elf.Section, lines []byte) uint64 {
	text := f.Section(".text").Addr
	if f.Class != elf.ELFCLASS64 || len(lines) < 32 {
		return text
	}
	switch f.ByteOrder.Uint32(lines) {
	case 0xfffffff0, 0xfffffff1: // of Go 1.18, and of 1.20 and later
	default:
		return text
	}
	const textStart, moduleText = 8 + 2*8, 22 * 8
	if at := address(f, table, textStart); at != 0 {
		return at
	}
	if module := f.Section(".go.module"); module != nil {
		return cmp.Or(address(f, module, moduleText), text)
	}
	return text
}

// address is the one that stands at a place in a section or, where the program can lie
// anywhere, that is put there when it is loaded; 0 where there is none.
func address(f *elf.File, s *elf.Section, offset uint64) uint64 {
	var word [8]byte
	if _, err := s.ReadAt(word[:], int64(offset)); err != nil { //nolint:gosec // one of two constants
		return 0
	}
	if at := f.ByteOrder.Uint64(word[:]); at != 0 {
		return at
	}
	relocations := f.Section(".rela.dyn")
	if relocations == nil {
		return 0
	}
	all, err := relocations.Data()
	if err != nil {
		return 0
	}
	for ; len(all) >= 24; all = all[24:] {
		if f.ByteOrder.Uint64(all) == s.Addr+offset {
			return f.ByteOrder.Uint64(all[16:])
		}
	}
	return 0
}

// goTable reads the table of a Go program; nil where it has a form that is not known.
func goTable(lines []byte, text uint64) (t *gosym.Table) {
	defer func() {
		if recover() != nil {
			t = nil // the library does not expect a damaged table
		}
	}()
	t, err := gosym.NewTable(nil, gosym.NewLineTable(bytes.Clone(lines), text))
	if err != nil {
		return nil
	}
	return t
}

func (p *program) symbols(f *elf.File) {
	all, err := f.Symbols()
	if err != nil {
		all = nil
	}
	dynamic, err := f.DynamicSymbols()
	if err == nil {
		all = append(all, dynamic...)
	}
	slices.SortFunc(all, func(a, b elf.Symbol) int {
		if a.Value < b.Value {
			return -1
		}
		return 1
	})
	for _, s := range all {
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Value != 0 {
			p.at, p.names = append(p.at, s.Value), append(p.names, s.Name)
		}
	}
}

// function is the one that an offset in the file lies in, "" where that is not known.
func (p *program) function(offset uint64) string {
	for _, s := range p.loads {
		if offset < s.Off || offset >= s.Off+s.Filesz {
			continue
		}
		at := offset - s.Off + s.Vaddr
		if p.table != nil {
			if f := p.table.PCToFunc(at); f != nil {
				return f.Name
			}
			return ""
		}
		if i := sort.Search(len(p.at), func(i int) bool { return p.at[i] > at }); i > 0 {
			return p.names[i-1]
		}
	}
	return ""
}

// phases are what a Go program is busy with whatever it calls meanwhile.
var phases = []struct{ function, what string }{
	{"runtime.gcBgMarkWorker", "Go's garbage collection"},
	{"runtime.bgsweep", "Go's garbage collection"},
	{"runtime.bgscavenge", "Go's garbage collection"},
	{"runtime.doInit", "Go package initialisation"},
	{"runtime.schedinit", "the start of Go's runtime"},
	{"runtime.rt0_go", "the start of Go's runtime"},
}

// inside are parts of Go's runtime that programs call on their way.
var inside = []struct{ function, what string }{
	{"runtime.gcAssist", "Go's garbage collection"},
	{"runtime.mallocgc", "Go's memory management"},
	{"runtime.growslice", "Go's memory management"},
	{"runtime.newobject", "Go's memory management"},
	{"runtime.schedule", "Go's scheduler"},
	{"runtime.findRunnable", "Go's scheduler"},
	{"runtime.park_m", "Go's scheduler"},
	{"runtime.mstart", "Go's scheduler"},
	{"runtime.sysmon", "Go's scheduler"},
}

// part names what a program was busy with, by the functions of its stack, the
// innermost first: a part of Go's runtime, a package, or a library.
func part(stack []string, module string) string {
	for _, f := range stack {
		for _, p := range phases {
			if strings.HasPrefix(f, p.function) {
				return p.what
			}
		}
	}
	for _, f := range stack {
		for _, p := range inside {
			if strings.HasPrefix(f, p.function) {
				return p.what
			}
		}
		if f == "" || strings.HasPrefix(f, "runtime.") || strings.HasPrefix(f, "internal/runtime") {
			continue
		}
		if pkg := packageOf(f); pkg != "" {
			return pkg
		}
		return library(module)
	}
	if len(stack) > 0 && strings.HasPrefix(stack[0], "runtime.") {
		return "Go's runtime"
	}
	return library(module)
}

// library is a file's name if it is a library, and "" of the program itself: that a
// program was busy with itself says nothing.
func library(file string) string {
	if strings.Contains(file, ".so") {
		return file
	}
	return ""
}

// packageOf is the package of a Go function, "" where it is none.
func packageOf(f string) string {
	slash := strings.LastIndex(f, "/")
	dot := strings.Index(f[slash+1:], ".")
	if dot <= 0 || strings.ContainsAny(f[:slash+1+dot], "()* ") {
		return ""
	}
	return "package " + f[:slash+1+dot]
}
