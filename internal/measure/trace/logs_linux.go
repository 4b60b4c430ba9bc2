package trace

// log is what programs in the kernel write into.
type log interface {
	begin() error
	end() error
	lost() int64
	Close() error
}

// logs are those that there are.
func (r *Recorder) logs() (all []log) {
	if r.switches != nil {
		all = append(all, r.switches)
	}
	if r.calls != nil {
		all = append(all, r.calls)
	}
	if r.execs != nil {
		all = append(all, r.execs)
	}
	return all
}

// takePrograms makes the logs that programs in the kernel write; a kernel that takes none
// has perf events.
func (r *Recorder) takePrograms(last int) {
	bytes := r.opts.Pages * pageSize
	// Slots are a power of two: 512 is the next one above the size of a switch's.
	r.switches, _ = newSwitchLog(last, uint32(bytes/512), r.opts) //nolint:gosec // at most 2^30
	if !r.opts.asks {
		// A thousand executions on each processor, of the usual buffers; 2048 is the next
		// power of two.
		r.execs, _ = newExecLog(last, uint32(max(1, bytes/8/2048))) //nolint:gosec // at most 2^30
	}
	if r.opts.AllCalls {
		r.calls, _ = newCallLog(last, uint32(bytes/4/slotSize)) //nolint:gosec // at most 2^30
	}
}
