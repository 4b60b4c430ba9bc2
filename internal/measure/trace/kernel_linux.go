package trace

import (
	"slices"
	"strings"
)

// interrupts are what a processor is interrupted for, by functions of the kernel.
// The first that is on the stack decides.
var interrupts = []struct{ function, what string }{
	{"rcu_core", "interrupted by the kernel's deferred freeing (RCU)"},
	{"net_rx_action", "interrupted by network packets"},
	{"blk_done_softirq", "interrupted by the disk"},
	{"blk_mq_", "interrupted by the disk"},
	{"sched_balance_softirq", "interrupted, as the load of the processors is balanced"},
	{"run_timer_softirq", "interrupted by the timer"},
	{"sysvec_apic_timer", "interrupted by the timer"},
	{"arch_timer_handler", "interrupted by the timer"},
	{"sysvec_reschedule", "interrupted by another processor"},
	{"sysvec_call_function", "interrupted by another processor"},
	{"common_interrupt", "interrupted by a device"},
	{"handle_softirqs", "interrupted"},
	{"el0_interrupt", "interrupted"},
	{"el1_interrupt", "interrupted"},
}

// kernelPart says what the kernel was at, by its functions, the innermost first: a
// system call, what a program causes by touching its memory, its end, an interrupt.
func kernelPart(stack []string) string {
	for _, name := range stack {
		if call := systemCall(name); call != "" {
			return "in " + call
		}
		switch {
		case strings.Contains(name, "page_fault"):
			return "page faults, as its memory is given to it"
		case name == "do_exit":
			return "process exit"
		}
	}
	has := func(prefix string) bool {
		return slices.ContainsFunc(stack, func(name string) bool { return strings.HasPrefix(strings.TrimPrefix(name, "asm_"), prefix) })
	}
	switch {
	case has("ret_from_fork"), has("schedule_tail"):
		return "beginning, as a new process"
	case has("schedule"):
		return "giving the processor to another"
	}
	for _, i := range interrupts {
		if has(i.function) {
			return i.what
		}
	}
	if has("do_syscall_64") || has("el0_svc") {
		return "system call entry and exit"
	}
	if len(stack) == 0 {
		return ""
	}
	return "in the kernel's " + stack[0]
}

// systemCall is the system call that a function of the kernel carries out, "" if none.
func systemCall(function string) string {
	for _, arch := range []string{"__x64_sys_", "__arm64_sys_", "__se_sys_", "__do_sys_", "ksys_"} {
		if name, ok := strings.CutPrefix(function, arch); ok {
			return strings.TrimSuffix(name, "_pgoff")
		}
	}
	return ""
}
