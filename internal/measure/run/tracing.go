package run

import (
	"cmp"
	"fmt"
	"io"
	"os"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/host/proc"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/measure/study"
	"plimsoll/internal/measure/trace"
	"plimsoll/internal/record"
)

// tracing follows life cycles through the kernel.
type tracing struct {
	recorder    *trace.Recorder
	from, until record.Event // what is explained
}

func startTracing(o *Options) (*tracing, error) {
	r, err := trace.Open(*o.Trace)
	if err != nil {
		return nil, fmt.Errorf("this kernel can't be followed: %w", err)
	}
	return &tracing{r, cmp.Or(o.TraceFrom, record.Request), cmp.Or(o.TraceUntil, record.Ready)}, nil
}

// askers are the processes that ask for starts: ours, and our launchers, which do so on
// the command line's behalf. A daemon of ours is asked, as anybody's is.
func askers() []int {
	all := []int{os.Getpid()}
	for _, pid := range proc.Here.PIDs() {
		if s, err := proc.Here.Stat(pid); err != nil || s.PPID != os.Getpid() {
			continue
		}
		if argv, err := proc.Here.Argv(pid); err == nil && probe.Launches(argv) {
			all = append(all, pid)
		}
	}
	return all
}

// wants says whether a trial is followed: those of every second block, so that
// what the following costs shows beside those of the others.
func (f *tracing) wants(p study.Trial, o *openEnv) bool {
	return f != nil && !o.virtual && p.Block%2 == 0
}

// follow carries a life cycle out and records what the kernel saw of it. Where
// that can't be recorded the trial stands without it.
func (f *tracing) follow(t *record.Trial, run func() engine.Result) *record.Trace {
	var res engine.Result
	began := false
	seen, err := f.recorder.Record(func() (record.TraceHead, error) {
		began = true
		res = run()
		return record.TraceHead{
			What: t.Env, From: res.Events[f.from], To: res.Events[f.until], Until: string(f.until),
		}, nil
	})
	if err != nil {
		t.Remarks = append(t.Remarks, "what the kernel did was not recorded: "+err.Error())
		if !began {
			run()
		}
		return nil
	}
	if seen.From == 0 || seen.To <= seen.From {
		return nil // it has not come so far: its failure says why
	}
	// They outlive it, before which as little as possible is read.
	seen.Askers = askers()
	return seen
}

// keepTrace keeps what was recorded beside the trial.
func (s *site) keepTrace(t *record.Trial, seen *record.Trace) {
	if seen != nil && t.OK() {
		s.keepSamples(t, "what the kernel did", record.TraceSamples, func(w io.Writer) error { return record.WriteTrace(w, seen) })
	}
}
