package trace

import (
	"encoding/binary"
	"slices"
	"strings"

	"github.com/cilium/ebpf/asm"
)

// Who wakes a thread: the thread that has the processor, for certain an interrupt, or
// whichever of the two its stack shows.
const (
	byThread = iota
	byInterrupt
	byEither
)

// threadSize is the size of a thread's stack in the kernel, bytes (THREAD_SIZE of x86-64).
const threadSize = 16 << 10

// kernelThread marks the kernel's own threads (PF_KTHREAD of include/linux/sched.h).
const kernelThread = 0x00200000

// ksoftirqd is how the threads are called that serve soft interrupts on their own stack.
var ksoftirqd = int32(binary.NativeEndian.Uint32([]byte("ksof"))) //nolint:gosec // the bytes count

// interrupted makes R1 who wakes, and goes on at "told". It takes R0 to R5. The kernel
// counts the interrupts that it is in, but tells programs where that count lies only if
// it was built to name all its variables. An idle processor wakes nobody by itself;
// interrupts have a stack of their own, except on one that comes from user space, where
// no system call has a number (-1), and in the threads that serve soft ones
// (arch/x86/include/asm/irq_stack.h, kernel/softirq.c).
func (k *structures) interrupted() asm.Instructions {
	return asm.Instructions{
		asm.FnGetCurrentTaskBtf.Call(),
		asm.LoadMem(asm.R1, asm.R0, k.pid, asm.Word),
		asm.JEq.Imm(asm.R1, 0, "interrupt"),
		// How far above the bottom of the thread's stack are we? Lower halves do.
		asm.LoadMem(asm.R1, asm.R0, k.stack, asm.DWord),
		asm.Mov.Reg32(asm.R2, asm.RFP),
		asm.Sub.Reg32(asm.R2, asm.R1),
		asm.JGE.Imm(asm.R2, threadSize, "interrupt"),
		asm.LoadMem(asm.R1, asm.R0, k.comm, asm.Word),
		asm.JEq.Imm(asm.R1, ksoftirqd, "either"),
		asm.LoadMem(asm.R1, asm.R0, k.flags, asm.Word),
		asm.And.Imm(asm.R1, kernelThread),
		asm.JNE.Imm(asm.R1, 0, "thread"),
		asm.Mov.Reg(asm.R1, asm.R0),
		asm.FnTaskPtRegs.Call(),
		asm.LoadMem(asm.R1, asm.R0, k.call, asm.DWord),
		asm.JSLT.Imm(asm.R1, 0, "either"),
		asm.Mov.Imm(asm.R1, byThread).WithSymbol("thread"),
		asm.Ja.Label("told"),
		asm.Mov.Imm(asm.R1, byInterrupt).WithSymbol("interrupt"),
		asm.Ja.Label("told"),
		asm.Mov.Imm(asm.R1, byEither).WithSymbol("either"),
	}
}

// soft are the functions below which soft interrupts are served, hard those by which a
// processor is interrupted.
var (
	soft = []string{"handle_softirqs", "__do_softirq", "do_softirq", "run_ksoftirqd"}
	hard = []string{"sysvec_", "asm_sysvec_", "common_interrupt", "asm_common_interrupt", "handle_irq_event"}
	// back are those of a thread on its way back from an interrupt, where it takes its
	// signals, and ends of them: that is its own doing.
	back = []string{"do_exit", "arch_do_signal_or_restart", "exit_to_user_mode_loop"}
)

// interrupting says by the functions of a stack, the innermost first, whether it is one
// of an interrupt, and of a soft one.
func interrupting(stack []string) (interrupt, softly bool) {
	for _, f := range stack {
		switch {
		case slices.Contains(soft, f):
			return true, true
		case slices.Contains(back, f):
			return false, false
		}
		if slices.ContainsFunc(hard, func(h string) bool { return strings.HasPrefix(f, h) }) {
			return true, false
		}
	}
	return false, false
}
