package trace

import (
	"maps"
	"slices"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
)

// The kernel lets only programs read its structures that may be used under the GPL:
// these, and the pieces that they are put together from, may be used under the MIT
// licence or under the GPL, version 2, too.
const dual = "Dual MIT/GPL"

// switchProgram is what the kernel runs when a processor goes from one thread to another
// (sched_switch, include/trace/events/sched.h: preempt, prev, next, prev_state).
func (l *switchLog) switchProgram(o Options) (*ebpf.Program, error) {
	return tracing("plimsoll_switch", "sched_switch", slices.Concat(
		asm.Instructions{asm.Mov.Reg(asm.R6, asm.R1)}, l.next(), l.who(),
		asm.Instructions{
			asm.StoreImm(asm.R7, kindAt, 0, asm.Word),
			asm.StoreImm(asm.R7, callAt, -1, asm.Word),
			asm.StoreImm(asm.R7, asleepAt, 0, asm.DWord), // and hereAt
		},
		when(o.Stacks, l.inside()),
		asm.Instructions{
			asm.LoadMem(asm.R1, asm.R6, 16, asm.DWord),
			asm.LoadMem(asm.R1, asm.R1, l.kernel.pid, asm.Word),
			asm.StoreMem(asm.R7, otherAt, asm.R1, asm.Word),
			// One that was made to stop could go on, whatever it was about to wait for.
			asm.LoadMem(asm.R2, asm.R6, 0, asm.DWord),
			asm.Mov.Imm(asm.R1, 0),
			asm.JNE.Imm(asm.R2, 0, "runnable"),
			asm.LoadMem(asm.R1, asm.R6, 24, asm.DWord),
			asm.StoreMem(asm.R7, marksAt, asm.R1, asm.Word).WithSymbol("runnable"),
		},
		// A lock or a grace period is what no signal ends; its own function is one of the
		// scheduler's, which a sleeping thread's stack leaves out.
		when(o.Stacks, asm.Instructions{
			asm.JEq.Imm(asm.R1, 0, "done"),
			asm.And.Imm(asm.R1, 1),
			asm.JNE.Imm(asm.R1, 0, "done"),
		}, ownStack()),
		done(), written()))
}

// wakeProgram is what the kernel runs when a thread is woken (sched_waking: p), on the
// processor of whoever wakes it.
func (l *switchLog) wakeProgram(o Options) (*ebpf.Program, error) {
	return tracing("plimsoll_waking", "sched_waking", slices.Concat(
		asm.Instructions{asm.Mov.Reg(asm.R6, asm.R1)}, l.next(), l.who(),
		asm.Instructions{
			asm.StoreImm(asm.R7, kindAt, 1, asm.Word),
			asm.StoreImm(asm.R7, callAt, -1, asm.Word),
			asm.StoreImm(asm.R7, asleepAt, 0, asm.DWord), // and hereAt
			asm.StoreImm(asm.R7, userAt, 0, asm.DWord),
			asm.LoadMem(asm.R1, asm.R6, 0, asm.DWord),
			asm.LoadMem(asm.R1, asm.R1, l.kernel.pid, asm.Word),
			asm.StoreMem(asm.R7, otherAt, asm.R1, asm.Word),
		},
		l.kernel.interrupted(),
		asm.Instructions{asm.StoreMem(asm.R7, marksAt, asm.R1, asm.Word).WithSymbol("told")},
		when(o.Stacks, l.sleeping(), asm.Instructions{
			asm.LoadMem(asm.R1, asm.R7, marksAt, asm.Word).WithSymbol("awake"),
			asm.JEq.Imm(asm.R1, 0, "done"),
		}, ownStack()),
		done(), written()))
}

// code64 is the segment of 64-bit programs; others have other numbers for their calls.
const code64 = 0x33

// sleeping writes where the woken thread waitsIn, if a signal could end that (state 1)
// and it has left its processor: the system call, or, where that one says too little, the
// stack. It goes on at "awake".
func (l *switchLog) sleeping() asm.Instructions {
	all := asm.Instructions{
		asm.LoadMem(asm.R1, asm.R6, 0, asm.DWord),
		asm.LoadMem(asm.R2, asm.R1, l.kernel.state, asm.Word),
		asm.And.Imm(asm.R2, 1),
		asm.JEq.Imm(asm.R2, 0, "awake"),
		asm.LoadMem(asm.R2, asm.R1, l.kernel.onCPU, asm.Word),
		asm.JNE.Imm(asm.R2, 0, "awake"),
		asm.FnTaskPtRegs.Call(),
		asm.LoadMem(asm.R1, asm.R0, l.kernel.ip, asm.DWord),
		asm.StoreMem(asm.R7, userAt, asm.R1, asm.DWord),
	}
	all = append(all, l.calling("stack")...)
	for _, c := range slices.Sorted(maps.Keys(waitsIn)) {
		all = append(all, asm.JEq.Imm(asm.R1, int32(c), "awake")) //nolint:gosec // a system call's number
	}
	return append(all,
		asm.StoreImm(asm.R7, callAt, -1, asm.Word),
		asm.LoadMem(asm.R1, asm.R6, 0, asm.DWord).WithSymbol("stack"),
		asm.Mov.Reg(asm.R2, asm.R7),
		asm.Add.Imm(asm.R2, sleeperAt),
		asm.Mov.Imm(asm.R3, 8*sleeper),
		asm.Mov.Imm(asm.R4, 0),
		asm.FnGetTaskStack.Call(),
		asm.StoreMem(asm.R7, asleepAt, asm.R0, asm.Word),
	)
}

// inside writes the system call that the thread which has the processor is in. The kernel's
// own threads have none, nor has one that was interrupted outside of any.
func (l *switchLog) inside() asm.Instructions {
	all := asm.Instructions{
		asm.FnGetCurrentTaskBtf.Call(),
		asm.LoadMem(asm.R1, asm.R0, l.kernel.flags, asm.Word),
		asm.And.Imm(asm.R1, kernelThread),
		asm.JNE.Imm(asm.R1, 0, "outside"),
		asm.Mov.Reg(asm.R1, asm.R0),
		asm.FnTaskPtRegs.Call(),
	}
	return append(append(all, l.calling("outside")...), asm.Mov.Imm(asm.R0, 0).WithSymbol("outside"))
}

// calling writes the system call by a thread's registers (in R0). For a program that is
// none of 64 bits it goes on at a place instead.
func (l *switchLog) calling(otherwise string) asm.Instructions {
	return asm.Instructions{
		asm.LoadMem(asm.R1, asm.R0, l.kernel.segment, asm.Half),
		asm.JNE.Imm(asm.R1, code64, otherwise),
		asm.LoadMem(asm.R1, asm.R0, l.kernel.call, asm.DWord),
		asm.StoreMem(asm.R7, callAt, asm.R1, asm.Word),
	}
}

// who writes the time, and who has the processor.
func (l *switchLog) who() asm.Instructions {
	return asm.Instructions{
		asm.FnKtimeGetNs.Call(),
		asm.StoreMem(asm.R7, 0, asm.R0, asm.DWord),
		asm.FnGetCurrentPidTgid.Call(),
		asm.StoreMem(asm.R7, byAt, asm.R0, asm.Word), // the lower half is the thread
		asm.RSh.Imm(asm.R0, 32),
		asm.StoreMem(asm.R7, processAt, asm.R0, asm.Word),
	}
}

// ownStack writes the stack of who has the processor.
func ownStack() asm.Instructions {
	return asm.Instructions{
		asm.Mov.Reg(asm.R1, asm.R6),
		asm.Mov.Reg(asm.R2, asm.R7),
		asm.Add.Imm(asm.R2, stackAt),
		asm.Mov.Imm(asm.R3, 8*here),
		asm.Mov.Imm(asm.R4, 0),
		asm.FnGetStack.Call(),
		asm.StoreMem(asm.R7, hereAt, asm.R0, asm.Word),
	}
}

// done is where those go on that have no more to write.
func done() asm.Instructions {
	return asm.Instructions{asm.Mov.Imm(asm.R0, 0).WithSymbol("done")}
}

// when is all of it on a condition, and else nothing.
func when(on bool, all ...asm.Instructions) asm.Instructions {
	if !on {
		return nil
	}
	return slices.Concat(all...)
}

func tracing(name, of string, all asm.Instructions) (*ebpf.Program, error) {
	return ebpf.NewProgram(&ebpf.ProgramSpec{
		Name: name, Type: ebpf.Tracing, AttachType: ebpf.AttachTraceRawTp, AttachTo: of, License: dual, Instructions: all,
	})
}
