package trace

import (
	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
)

// program is what the kernel runs at the beginning of each system call, or at its end
// (raw tracepoints sys_enter and sys_exit, include/trace/events/syscalls.h): it writes
// the time, the thread and the call into the next slot of its processor. Nothing else
// writes there meanwhile, since the kernel runs it where no other thread can take the
// processor.
func (l *callLog) program(begins bool) (*ebpf.Program, error) {
	name := "plimsoll_leave"
	number := asm.Mov.Imm(asm.R6, -1)
	if begins {
		// The second argument of the tracepoint.
		name, number = "plimsoll_enter", asm.LoadMem(asm.R6, asm.R1, 8, asm.DWord)
	}
	size := int32(l.size) //nolint:gosec // at most 2^30
	return ebpf.NewProgram(&ebpf.ProgramSpec{
		Name: name, Type: ebpf.RawTracepoint, License: "Apache-2.0",
		Instructions: asm.Instructions{
			number,
			// R7 is the processor, R8 its head; one that came after us has none.
			asm.FnGetSmpProcessorId.Call(),
			asm.Mov.Reg(asm.R7, asm.R0),
			asm.StoreMem(asm.RFP, -4, asm.R0, asm.Word),
			asm.Mov.Reg(asm.R2, asm.RFP),
			asm.Add.Imm(asm.R2, -4),
			asm.LoadMapPtr(asm.R1, l.heads.FD()),
			asm.FnMapLookupElem.Call(),
			asm.JEq.Imm(asm.R0, 0, "end"),
			asm.Mov.Reg(asm.R8, asm.R0),
			// R9 is how many were written. Is there room for one more?
			asm.LoadMem(asm.R9, asm.R8, 0, asm.DWord),
			asm.LoadMem(asm.R2, asm.R8, readAt, asm.DWord),
			asm.Mov.Reg(asm.R1, asm.R9),
			asm.Sub.Reg(asm.R1, asm.R2),
			asm.JGE.Imm(asm.R1, size, "full"),
			// R7 becomes the slot.
			asm.Mul.Imm(asm.R7, size),
			asm.Mov.Reg(asm.R1, asm.R9),
			asm.And.Imm(asm.R1, size-1),
			asm.Add.Reg(asm.R7, asm.R1),
			asm.StoreMem(asm.RFP, -4, asm.R7, asm.Word),
			asm.Mov.Reg(asm.R2, asm.RFP),
			asm.Add.Imm(asm.R2, -4),
			asm.LoadMapPtr(asm.R1, l.slots.FD()),
			asm.FnMapLookupElem.Call(),
			asm.JEq.Imm(asm.R0, 0, "end"),
			asm.Mov.Reg(asm.R7, asm.R0),
			asm.FnKtimeGetNs.Call(),
			asm.StoreMem(asm.R7, 0, asm.R0, asm.DWord),
			asm.FnGetCurrentPidTgid.Call(),
			asm.StoreMem(asm.R7, threadAt, asm.R0, asm.Word), // the lower half is the thread
			asm.StoreMem(asm.R7, numberAt, asm.R6, asm.Word),
			asm.Add.Imm(asm.R9, 1),
			asm.StoreMem(asm.R8, 0, asm.R9, asm.DWord),
			asm.Mov.Imm(asm.R0, 0).WithSymbol("end"),
			asm.Return(),
			asm.LoadMem(asm.R1, asm.R8, lostAt, asm.DWord).WithSymbol("full"),
			asm.Add.Imm(asm.R1, 1),
			asm.StoreMem(asm.R8, lostAt, asm.R1, asm.DWord),
			asm.Mov.Imm(asm.R0, 0),
			asm.Return(),
		},
	})
}
