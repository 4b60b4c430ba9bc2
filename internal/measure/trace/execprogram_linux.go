package trace

import (
	"fmt"
	"slices"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/btf"
)

// lineStructures says where the kernel of this machine keeps the command line of a process:
// offsets in struct task_struct and struct mm_struct, and of the file's path in struct
// linux_binprm, bytes.
type lineStructures struct{ mm, from, to, filename int16 }

// kernelLines needs a kernel that describes itself (BTF).
func kernelLines() (*lineStructures, error) {
	spec, err := btf.LoadKernelSpec()
	if err != nil {
		return nil, fmt.Errorf("reading how the kernel describes itself: %w", err)
	}
	m := &lineStructures{}
	for _, o := range []struct {
		of, member string
		at         *int16
	}{
		{"task_struct", "mm", &m.mm},
		{"mm_struct", "arg_start", &m.from},
		{"mm_struct", "arg_end", &m.to},
		{"linux_binprm", "filename", &m.filename},
	} {
		if *o.at, err = offset(spec, o.of, o.member); err != nil {
			return nil, err
		}
	}
	// p, old_pid, bprm; the first of the type is the program's own.
	if n := arguments(spec, "btf_trace_sched_process_exec"); n != 4 {
		return nil, fmt.Errorf("%w: sched_process_exec has %d arguments", errOtherKernel, n)
	}
	return m, nil
}

// execProgram is what the kernel runs when a process has executed a program
// (sched_process_exec, include/trace/events/sched.h: p, old_pid, bprm). The process has
// its new memory by then and its command line lies on its stack, where the kernel has
// just put it; what is not there after all is not waited for.
func (l *execLog) execProgram(m *lineStructures) (*ebpf.Program, error) {
	return tracing("plimsoll_exec", "sched_process_exec", slices.Concat(
		asm.Instructions{asm.Mov.Reg(asm.R6, asm.R1)}, l.next(),
		asm.Instructions{
			asm.FnKtimeGetNs.Call(),
			asm.StoreMem(asm.R7, 0, asm.R0, asm.DWord),
			asm.FnGetCurrentPidTgid.Call(),
			asm.StoreMem(asm.R7, execThreadAt, asm.R0, asm.Word), // the lower half is the thread
			asm.LoadMem(asm.R1, asm.R6, 8, asm.DWord),
			asm.StoreMem(asm.R7, execOldAt, asm.R1, asm.Word),
			asm.StoreImm(asm.R7, copiedAt, 0, asm.Word),

			asm.LoadMem(asm.R1, asm.R6, 16, asm.DWord),
			asm.LoadMem(asm.R3, asm.R1, m.filename, asm.DWord),
			asm.Mov.Reg(asm.R1, asm.R7),
			asm.Add.Imm(asm.R1, pathAt),
			asm.Mov.Imm(asm.R2, pathRoom),
			asm.FnProbeReadKernelStr.Call(),
			asm.StoreMem(asm.R7, pathLenAt, asm.R0, asm.Word),

			asm.LoadMem(asm.R1, asm.R6, 0, asm.DWord),
			asm.LoadMem(asm.R1, asm.R1, m.mm, asm.DWord),
			asm.LoadMem(asm.R3, asm.R1, m.from, asm.DWord),
			asm.LoadMem(asm.R6, asm.R1, m.to, asm.DWord),
			asm.Sub.Reg(asm.R6, asm.R3),
			asm.StoreMem(asm.R7, lengthAt, asm.R6, asm.DWord),
			asm.JLE.Imm(asm.R6, lineRoom, "fits"),
			asm.Mov.Imm(asm.R6, lineRoom),
			asm.Mov.Reg(asm.R1, asm.R7).WithSymbol("fits"),
			asm.Add.Imm(asm.R1, lineAt),
			asm.Mov.Reg(asm.R2, asm.R6),
			asm.FnProbeReadUser.Call(),
			asm.JNE.Imm(asm.R0, 0, "done"),
			asm.StoreMem(asm.R7, copiedAt, asm.R6, asm.Word),
		},
		done(), written()))
}
