package trace

import (
	"errors"
	"fmt"
	"sync/atomic"
	"unsafe"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"golang.org/x/sys/unix"
)

// slots are what programs in the kernel (BPF) write into and we read in place: a ring of
// slots for each processor, and before it a head that counts.
type slots struct {
	heads, slots *ebpf.Map
	head, slot   []byte
	each         uint32 // bytes of a slot
	size         uint64 // slots of a processor, a power of two
}

// A head says how many slots were written, how many events found no room and how many
// slots were read; it has a line of the cache to itself.
const (
	headSize = 64
	lostAt   = 8
	readAt   = 16
)

// newSlots makes rings for the processors up to one, with room for so many slots on
// each, a power of two. The error is of a kernel that has no such arrays.
func newSlots(last int, each, size uint32) (*slots, error) {
	s := &slots{each: each, size: uint64(size)}
	cpus := uint32(last) + 1 //nolint:gosec // a processor's number
	var err error
	if s.heads, s.head, err = sharedArray(headSize, cpus); err == nil {
		s.slots, s.slot, err = sharedArray(each, cpus*size)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// sharedArray is an array that programs in the kernel write and we read in place.
func sharedArray(value, entries uint32) (*ebpf.Map, []byte, error) {
	m, err := ebpf.NewMap(&ebpf.MapSpec{Type: ebpf.Array, KeySize: 4, ValueSize: value, MaxEntries: entries, Flags: unix.BPF_F_MMAPABLE})
	if err != nil {
		return nil, nil, err
	}
	bytes := (int(value)*int(entries) + pageSize - 1) &^ (pageSize - 1)
	b, err := unix.Mmap(m.FD(), 0, bytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("mapping an array of the kernel: %w", err), m.Close())
	}
	return m, b, nil
}

// next makes R7 the next slot of this processor, R8 its head and R9 how many slots were
// written, or ends the program where there is no room. It takes R0 to R5. Nothing else
// writes there meanwhile, since the kernel runs these programs where no other thread
// and no interrupt can take the processor.
func (s *slots) next() asm.Instructions {
	size := int32(s.size) //nolint:gosec // at most 2^30
	return asm.Instructions{
		asm.FnGetSmpProcessorId.Call(),
		asm.Mov.Reg(asm.R7, asm.R0),
		asm.StoreMem(asm.RFP, -4, asm.R0, asm.Word),
		asm.Mov.Reg(asm.R2, asm.RFP),
		asm.Add.Imm(asm.R2, -4),
		asm.LoadMapPtr(asm.R1, s.heads.FD()),
		asm.FnMapLookupElem.Call(),
		asm.JEq.Imm(asm.R0, 0, "end"), // a processor that came after us has none
		asm.Mov.Reg(asm.R8, asm.R0),
		asm.LoadMem(asm.R9, asm.R8, 0, asm.DWord),
		asm.LoadMem(asm.R2, asm.R8, readAt, asm.DWord),
		asm.Mov.Reg(asm.R1, asm.R9),
		asm.Sub.Reg(asm.R1, asm.R2),
		asm.JGE.Imm(asm.R1, size, "full"),
		asm.Mul.Imm(asm.R7, size),
		asm.Mov.Reg(asm.R1, asm.R9),
		asm.And.Imm(asm.R1, size-1),
		asm.Add.Reg(asm.R7, asm.R1),
		asm.StoreMem(asm.RFP, -4, asm.R7, asm.Word),
		asm.Mov.Reg(asm.R2, asm.RFP),
		asm.Add.Imm(asm.R2, -4),
		asm.LoadMapPtr(asm.R1, s.slots.FD()),
		asm.FnMapLookupElem.Call(),
		asm.JEq.Imm(asm.R0, 0, "end"),
		asm.Mov.Reg(asm.R7, asm.R0),
	}
}

// written counts the slot that next gave, now that it is filled, and ends the program.
func written() asm.Instructions {
	return asm.Instructions{
		asm.Add.Imm(asm.R9, 1),
		asm.StoreMem(asm.R8, 0, asm.R9, asm.DWord),
		asm.Mov.Imm(asm.R0, 0).WithSymbol("end"),
		asm.Return(),
		asm.LoadMem(asm.R1, asm.R8, lostAt, asm.DWord).WithSymbol("full"),
		asm.Add.Imm(asm.R1, 1),
		asm.StoreMem(asm.R8, lostAt, asm.R1, asm.DWord),
		asm.Mov.Imm(asm.R0, 0),
		asm.Return(),
	}
}

// forget empties the rings and their counts.
func (s *slots) forget() { clear(s.head) }

// drain gives what was written by processors whose part is fuller than a share.
func (s *slots) drain(full float64, take func(cpu int, slot []byte)) {
	for cpu := range s.cpus() {
		count, read := s.counter(cpu, 0), s.counter(cpu, readAt)
		end, from := atomic.LoadUint64(count), *read
		if float64(end-from) < full*float64(s.size) {
			continue
		}
		for ; from < end; from++ {
			at := uint64(cpu)*s.size + from&(s.size-1) //nolint:gosec // a processor's number
			take(cpu, s.slot[at*uint64(s.each):][:s.each])
		}
		atomic.StoreUint64(read, end)
	}
}

// lost is how many events found no room.
func (s *slots) lost() (n int64) {
	for cpu := range s.cpus() {
		n += int64(*s.counter(cpu, lostAt)) //nolint:gosec // a number of events
	}
	return n
}

func (s *slots) cpus() int { return len(s.slot) / int(s.each) / int(s.size) } //nolint:gosec // at most 2^30

func (s *slots) counter(cpu, at int) *uint64 {
	return (*uint64)(unsafe.Pointer(&s.head[cpu*headSize+at]))
}

// Close lets go of the arrays. Nil has none.
func (s *slots) Close() error {
	if s == nil {
		return nil
	}
	var errs []error
	for _, b := range [][]byte{s.head, s.slot} {
		if b != nil {
			errs = append(errs, unix.Munmap(b))
		}
	}
	s.head, s.slot = nil, nil
	return errors.Join(append(errs, s.heads.Close(), s.slots.Close())...) // closing a nil map does nothing
}
