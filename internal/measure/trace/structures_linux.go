package trace

import (
	"errors"
	"fmt"

	"github.com/cilium/ebpf/btf"
)

// structures says where the kernel of this machine keeps what a program of ours reads in
// it, as the kernel itself describes it (BTF, Documentation/bpf/btf.rst): offsets in
// struct task_struct and struct pt_regs, bytes.
type structures struct {
	pid, state, onCPU, stack, flags, comm int16
	ip, call, segment                     int16
}

// errOtherKernel: the kernel does not say of itself what is needed, or is another one.
var errOtherKernel = errors.New("this kernel does not describe itself as is needed")

// kernelStructures needs Linux 5.18, whose tracepoint sched_switch has the state of the
// thread that stops, on x86-64, of which interrupted knows.
func kernelStructures() (*structures, error) {
	spec, err := btf.LoadKernelSpec()
	if err != nil {
		return nil, fmt.Errorf("reading how the kernel describes itself: %w", err)
	}
	k := &structures{}
	for _, m := range []struct {
		of, member string
		at         *int16
	}{
		{"task_struct", "pid", &k.pid},
		{"task_struct", "__state", &k.state},
		{"task_struct", "on_cpu", &k.onCPU},
		{"task_struct", "stack", &k.stack},
		{"task_struct", "flags", &k.flags},
		{"task_struct", "comm", &k.comm},
		{"pt_regs", "ip", &k.ip},
		{"pt_regs", "orig_ax", &k.call},
		{"pt_regs", "cs", &k.segment},
	} {
		if *m.at, err = offset(spec, m.of, m.member); err != nil {
			return nil, err
		}
	}
	// preempt, prev, next, prev_state; the first of the type is the program's own.
	if n := arguments(spec, "btf_trace_sched_switch"); n != 5 {
		return nil, fmt.Errorf("%w: sched_switch has %d arguments", errOtherKernel, n)
	}
	return k, nil
}

// offset is where a member lies in a structure, also in one without a name inside it.
func offset(spec *btf.Spec, of, member string) (int16, error) {
	var s *btf.Struct
	if err := spec.TypeByName(of, &s); err != nil {
		return 0, fmt.Errorf("%w: struct %s: %w", errOtherKernel, of, err)
	}
	at, ok := within(s.Members, member)
	if !ok || at > 1<<15-1 {
		return 0, fmt.Errorf("%w: struct %s has no %s", errOtherKernel, of, member)
	}
	return int16(at), nil //nolint:gosec // just compared
}

func within(members []btf.Member, name string) (uint32, bool) {
	for _, m := range members {
		if m.Name == name {
			return m.Offset.Bytes(), true
		}
		if m.Name != "" {
			continue
		}
		var inner []btf.Member
		switch t := btf.UnderlyingType(m.Type).(type) {
		case *btf.Struct:
			inner = t.Members
		case *btf.Union:
			inner = t.Members
		}
		if at, ok := within(inner, name); ok {
			return m.Offset.Bytes() + at, true
		}
	}
	return 0, false
}

// arguments is how many a tracepoint hands to its programs, 0 if there is none.
func arguments(spec *btf.Spec, name string) int {
	var def *btf.Typedef
	if spec.TypeByName(name, &def) != nil {
		return 0
	}
	if p, ok := def.Type.(*btf.Pointer); ok {
		if f, ok := p.Target.(*btf.FuncProto); ok {
			return len(f.Params)
		}
	}
	return 0
}
