//go:build linux

package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"plimsoll/internal/measure/run"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/timeline"
)

// environment follows the starts of an engine's containers, by a small study of
// its own of which every second block is traced.
func (f *explainFlags) environment(w World, args []string) (*timeline.Explanation, error) {
	if err := rooted(args); err != nil {
		return nil, err
	}
	w, finish, broken, stop := w.interrupts()
	defer stop()
	s, err := newSetting(w)
	if err != nil {
		return nil, err
	}
	text, err := f.study(args)
	if err != nil {
		return nil, err
	}
	plan, err := s.smallPlan(finish, "(explain)", text, s.studyCatalogue(), func(engine string) bool { return engine == args[0] })
	if err != nil {
		return nil, err
	}
	parent, err := os.MkdirTemp("", "plimsoll-explain-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(parent)
	o := s.options()
	tracing := f.options()
	o.Plan, o.Run, o.Dir, o.Trace = plan, &record.Run{Tool: tool()}, filepath.Join(parent, "record"), &tracing
	o.Progress, o.Finish, o.Wait = newProgress(w, f.progress), finish.Done(), f.wait
	if err := describeHost(finish, s, o.Run, true); err != nil {
		return nil, err
	}
	sum, err := run.Execute(broken, o)
	switch {
	case errors.Is(err, run.ErrNothing) || err == nil && sum.Trials == 0:
		return nil, unopened(plan.Excluded)
	case err != nil:
		return nil, fail(Failed, "%w", err)
	case sum.Interrupted:
		return nil, fail(Interrupted, "interrupted")
	}
	return explained(o.Dir)
}

// unopened says why nothing could be started.
func unopened(excluded []record.Excluded) error {
	for _, x := range excluded {
		if x.Reason != "" {
			return withHint(fail(NothingHere, "%s can't be started here: %s", x.ID, x.Reason), "%s", x.Fix)
		}
	}
	return fail(NothingHere, "it can't be started here")
}

// study is the one that is traced: a container that says that it is there, again
// and again.
func (f *explainFlags) study(args []string) (string, error) {
	levels, err := levelLines(args)
	if err != nil {
		return "", err
	}
	var text strings.Builder
	fmt.Fprintf(&text, "plimsoll: 1\nname: explain\ntitle: Where the time of a start goes\nprotocol: {blocks: %d, warmup: 2}\n", 2*f.starts)
	fmt.Fprintf(&text, "workloads: [hello]\nenvironments:\n  - engine: %s\n", args[0])
	text.WriteString(levels)
	return text.String(), nil
}

// explained reads what was traced, and the starts between.
func explained(dir string) (*timeline.Explanation, error) {
	r, err := record.Open(dir)
	if err != nil {
		return nil, fail(Failed, "%w", err)
	}
	var traces []*record.Trace
	var untraced []int64
	var failed *record.Failure
	for t, err := range r.Trials() {
		if err != nil {
			return nil, fail(Failed, "%w", err)
		}
		i := slices.IndexFunc(t.Samples, func(n string) bool { return strings.HasSuffix(n, "."+record.TraceSamples+".jsonl") })
		switch {
		case t.Failure != nil:
			failed = t.Failure
		case t.Warmup:
		case i < 0:
			untraced = append(untraced, t.Events[record.Ready]-t.Events[record.Request])
		default:
			in, err := r.Samples(t.Samples[i])
			if err != nil {
				return nil, fail(Failed, "%w", err)
			}
			seen, err := record.ReadTrace(in, t.Samples[i])
			if err = errors.Join(err, in.Close()); err != nil {
				return nil, fail(Failed, "%w", err)
			}
			traces = append(traces, seen)
		}
	}
	switch {
	case len(traces) == 0 && failed != nil:
		return nil, fail(SomeFailed, "no start succeeded: %s: %s", failed.Class, failed.Text)
	case len(traces) == 0:
		return nil, fail(NothingHere, "no start was traced")
	}
	if len(untraced) != len(traces) {
		untraced = nil // some neighbours are missing: what tracing costs stays untold
	}
	return timeline.Explain(traces, untraced)
}
