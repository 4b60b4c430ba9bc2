package trace

import (
	"slices"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
)

// program is what the kernel runs at the beginning of each system call, or at its end
// (raw tracepoints sys_enter and sys_exit, include/trace/events/syscalls.h): it writes
// the time, the thread and the call into the next slot of its processor.
func (l *callLog) program(begins bool) (*ebpf.Program, error) {
	name := "plimsoll_leave"
	number := asm.Mov.Imm(asm.R6, -1)
	if begins {
		// The second argument of the tracepoint.
		name, number = "plimsoll_enter", asm.LoadMem(asm.R6, asm.R1, 8, asm.DWord)
	}
	return ebpf.NewProgram(&ebpf.ProgramSpec{
		Name: name, Type: ebpf.RawTracepoint, License: "Apache-2.0",
		Instructions: slices.Concat(asm.Instructions{number}, l.next(), asm.Instructions{
			asm.FnKtimeGetNs.Call(),
			asm.StoreMem(asm.R7, 0, asm.R0, asm.DWord),
			asm.FnGetCurrentPidTgid.Call(),
			asm.StoreMem(asm.R7, threadAt, asm.R0, asm.Word), // the lower half is the thread
			asm.StoreMem(asm.R7, numberAt, asm.R6, asm.Word),
		}, written()),
	})
}
