//go:build linux

package cli

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/common/harmless"
	"plimsoll/internal/common/lists"
	"plimsoll/internal/measure/child"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/run"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/timeline"
)

// environment follows the starts of an engine's containers.
func (f *explainFlags) environment(w World, args []string) (*timeline.Explanation, error) {
	all, err := f.environments(w, args)
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// environmentRate follows the starts of an engine's containers, alone and several at
// once, in pairs of blocks in turn.
func (f *explainFlags) environmentRate(w World, args []string) (*timeline.Comparison, error) {
	if err := rooted(append([]string{"explain", "--at-once", fmt.Sprint(f.atOnce)}, args...)...); err != nil {
		return nil, err
	}
	x, err := f.traced(w, args)
	if err != nil {
		return nil, err
	}
	return rateOf(f.atOnce, x[0].alone, x[0].together, x[0].all)
}

// both follows the starts of two environments in the same blocks.
func (f *explainFlags) both(w World, args []string) (*timeline.Comparison, error) {
	other := strings.Fields(f.against)
	switch {
	case len(other) == 0:
		return nil, fail(Usage, "--against is empty: expected levels such as network=host, or an engine with its levels")
	case strings.Contains(other[0], "="):
		other = append([]string{args[0]}, overridden(args[1:], other)...)
	}
	all, err := f.environments(w, args, other)
	if err != nil {
		return nil, err
	}
	return timeline.Against(all[0], all[1]), nil
}

// overridden are levels with others in the place of those of the same factor.
func overridden(levels, by []string) []string {
	out := slices.Clone(by)
	for _, l := range levels {
		factor, _, _ := strings.Cut(l, "=")
		if !slices.ContainsFunc(by, func(o string) bool { return strings.HasPrefix(o, factor+"=") }) {
			out = append(out, l)
		}
	}
	return out
}

// environments follows the starts of several.
func (f *explainFlags) environments(w World, all ...[]string) ([]*timeline.Explanation, error) {
	seen, err := f.traced(w, all...)
	if err != nil {
		return nil, err
	}
	return lists.Map(seen, func(s followed) *timeline.Explanation { return s.alone }), nil
}

// again is the command that follows the same starts again.
func (f *explainFlags) again(env []string) string {
	line := append(shellLine{"plimsoll", "explain"}, env...)
	line.add(true, "--starts", strconv.Itoa(f.starts))
	line.add(f.against != "", "--against", f.against)
	for _, b := range f.builds.list {
		line.add(true, "--build", b)
	}
	line.add(f.allCalls, "--all-calls")
	line.add(f.spans, "--spans")
	line.add(f.stop != "", "--stop", f.stop)
	return harmless.ShellLine(line)
}

// followed are the starts of an environment, and those of several at once.
type followed struct {
	alone, together *timeline.Explanation
	spans           map[int]int64 // what those took that were alone and traced, by their block, ns
	plain           map[int]int64 // likewise of those that were not traced
	all             []int64       // of each that were together and not traced: until the last was ready
}

// traced follows the starts of several, by a small study of its own of which every
// second block is traced.
func (f *explainFlags) traced(w World, all ...[]string) ([]followed, error) {
	w, finish, broken, stop := w.interrupts()
	defer stop()
	lacks := f.lacks(all[0])
	s, err := newSetting(w)
	if err != nil {
		return nil, err
	}
	for _, args := range all {
		if err := s.knows("", args[0]); err != nil {
			return nil, err
		}
	}
	if err := s.useBuilds(finish, &f.builds); err != nil {
		return nil, err
	}
	text, err := f.study(all)
	if err != nil {
		return nil, err
	}
	keeps := func(engine string) bool {
		return slices.ContainsFunc(all, func(args []string) bool { return args[0] == engine })
	}
	plan, err := s.smallPlan(finish, "explain", text, s.studyCatalogue(), keeps)
	if err != nil {
		return nil, err
	}
	builds, _, err := s.usedBuilds(&f.builds, plan, f.flags)
	if err != nil {
		return nil, err
	}
	ids := lists.Map(plan.Environments, func(e record.Environment) string { return e.ID })
	if len(ids) < len(all) {
		if !slices.ContainsFunc(plan.Excluded, func(x record.Excluded) bool { return x.Reason != "" }) {
			return nil, fail(Usage, "--against %q is the same environment", f.against)
		}
		return nil, unopened(plan.Excluded)
	}
	var collector *engine.Collector
	if f.spans {
		if collector, err = f.receive(finish, s, plan.Environments[0], lacks); err != nil {
			return nil, err
		}
		defer f.received.Close()
	}
	// In a folder that clean knows for ours, should this be killed.
	id := record.NewRunID()
	parent, err := s.state.Claim(id, "", nil)
	if err != nil {
		return nil, fail(Failed, "%w", err)
	}
	defer func() { _ = s.state.Release(id) }()
	o := s.options()
	o.Plan, o.Run, o.Dir = plan, &record.Run{Tool: tool(), Builds: builds}, filepath.Join(parent, "record")
	if f.keep != "" {
		o.Dir, plan.Study.Command = f.keep, f.again(all[0])
	}
	if lacks == "" {
		tracing := f.options()
		o.Trace = &tracing
	}
	o.TraceFrom, o.TraceUntil = f.stretch()
	o.Spans = collector
	o.AtOnce, o.Progress, o.Finish, o.Wait = f.atOnce, newProgress(w, f.progress), finish.Done(), f.wait
	if err := describeHost(finish, s, &o, true); err != nil {
		return nil, err
	}
	sum, err := run.Execute(broken, o)
	tellLeft(w, sum)
	f.left = f.left || sum.Left()
	switch {
	case errors.Is(err, run.ErrNothing) || err == nil && sum.Trials == 0:
		return nil, unopened(plan.Excluded)
	case err != nil:
		return nil, fail(Failed, "%w", err)
	case sum.Interrupted:
		return nil, fail(Interrupted, "interrupted")
	}
	if len(plan.Environments) < len(all) {
		return nil, unopened(plan.Excluded)
	}
	out, err := lists.Try(ids, func(id string) (followed, error) { return f.seen(o.Dir, id, lacks) })
	if err != nil {
		return nil, err
	}
	if f.fewer > 0 {
		fmt.Fprintf(w.Stderr, "%d of %d starts fitted into %s: --starts %[2]d takes as long as they need.\n", f.starts-f.fewer, f.starts, unasked)
	}
	return out, nil
}

// unopened says why nothing could be started: of what was asked for rather than of a
// baseline beside it, and then of what something helps.
func unopened(excluded []record.Excluded) error {
	worth := func(x record.Excluded) (n int) {
		if !slices.Contains(analyze.Baselines, x.Engine) {
			n = 2
		}
		if x.Fix != "" {
			n++
		}
		return n
	}
	told := lists.Filter(excluded, func(x record.Excluded) bool { return x.Reason != "" })
	if len(told) == 0 {
		return fail(NothingHere, "it can't be started here")
	}
	x := slices.MaxFunc(told, func(a, b record.Excluded) int { return worth(a) - worth(b) })
	return withHint(fail(NothingHere, "%s can't be started here: %s", x.ID, x.Reason), "%s", x.Fix)
}

// unasked is how long an explanation takes at most where nobody said how many starts
// it is to have: those of system containers take seconds each.
const unasked = time.Minute

// bounded says whether that bounds it. Starts at once come in fours of blocks, which
// have to be whole.
func (f *explainFlags) bounded() bool { return !f.asked && f.atOnce == 1 }

// stretch is what is followed of a container's life.
func (f *explainFlags) stretch() (from, until record.Event) {
	if f.stop != "" {
		return record.Stop, record.Stopped
	}
	return record.Request, record.Ready
}

// study is the one that is traced: a container that says that it is there, again
// and again.
func (f *explainFlags) study(all [][]string) (string, error) {
	var text strings.Builder
	limits := ""
	if f.unlimited {
		limits = ", limits: {cpus: none, memory: none}"
	}
	what, workload := "start", lifeCycle
	if f.stop != "" {
		what, workload = "stop", "{name: stop, parameters: {on-term: "+f.stop+"}}"
	}
	blocks := 2 * f.starts // every second one is traced
	if f.atOnce > 1 {
		blocks *= 2
	}
	length := fmt.Sprintf("blocks: %d", blocks)
	if f.bounded() {
		length = fmt.Sprintf("time-budget: %s, max-blocks: %d", child.Stretch(unasked).Round(time.Second), blocks)
	}
	fmt.Fprintf(&text, "plimsoll: 1\nname: explain\ntitle: Where the time of a %s goes\nprotocol: {%s, warmup: 2%s}\nworkloads: [%s]\nenvironments:\n", what, length, limits, workload)
	for _, args := range all {
		levels, err := levelLines(args)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&text, "  - engine: %s\n%s", args[0], levels)
	}
	return text.String(), nil
}

// seen reads what was traced of an environment, and the starts between; or, where
// something is lacking for that, what was timed.
func (f *explainFlags) seen(dir, env, lacks string) (followed, error) {
	r, err := record.Open(dir)
	if err != nil {
		return followed{}, fail(Failed, "%w", err)
	}
	var of [2]starts // alone, and in company
	var failed *record.Failure
	for t, err := range r.Trials() {
		switch {
		case err != nil:
			return followed{}, fail(Failed, "%w", err)
		case t.Env != env:
		case t.Failure != nil:
			failed = new(*t.Failure)
		case t.Warmup:
		case f.atOnce > 1 && run.Accompanied(t.Block):
			err = of[1].add(f, r, t)
		default:
			err = of[0].add(f, r, t)
		}
		if err != nil {
			return followed{}, err
		}
	}
	out := followed{all: of[1].all, spans: of[0].spans, plain: of[0].plain}
	if f.bounded() && lacks == "" && len(of[0].traces) < f.starts && failed == nil {
		of[0].pair()
		f.fewer = max(f.starts-len(of[0].traces), f.fewer)
		if len(of[0].traces) == 0 {
			return followed{}, fail(NothingHere, "no start of %s was followed within %s: --starts %d takes as long as they need", env, unasked, f.starts)
		}
	}
	if out.alone, err = of[0].explained(f, env, lacks, failed); err != nil || f.atOnce < 2 {
		return out, err
	}
	out.together, err = of[1].explained(f, env, lacks, failed)
	return out, err
}

// starts are those of one kind of an environment.
type starts struct {
	traces   []*record.Trace
	untraced []int64
	spans    map[int]int64 // of those traced, by their block
	plain    map[int]int64 // of those that were not, likewise
	timed    []map[record.Event]int64
	all      []int64
}

// pair leaves the last one out that its neighbour is missing of, as when time was up.
func (s *starts) pair() {
	if n := len(s.untraced); len(s.traces) == n+1 {
		s.traces = s.traces[:n]
	}
}

func (s *starts) add(f *explainFlags, r *record.Reader, t *record.Trial) error {
	i := slices.IndexFunc(t.Samples, func(n string) bool { return strings.HasSuffix(n, "."+record.TraceSamples+".jsonl") })
	if i < 0 {
		from, until := f.stretch()
		ns := t.Events[until] - t.Events[from]
		s.untraced = append(s.untraced, ns)
		if s.plain == nil {
			s.plain = map[int]int64{}
		}
		s.plain[t.Block] = ns
		s.timed = append(s.timed, maps.Clone(t.Events))
		if last := t.Values[run.LastReady]; last > 0 {
			s.all = append(s.all, int64(last))
		}
		return nil
	}
	in, err := r.Samples(t.Samples[i])
	if err != nil {
		return fail(Failed, "%w", err)
	}
	seen, err := record.ReadTrace(in, t.Samples[i])
	if err = errors.Join(err, in.Close()); err != nil {
		return fail(Failed, "%w", err)
	}
	if f.received != nil { // all have come: their daemon has ended
		seen.Spans = f.received.During(seen.From, seen.To)
	}
	s.traces = append(s.traces, seen)
	if s.spans == nil {
		s.spans = map[int]int64{}
	}
	s.spans[t.Block] = seen.To - seen.From
	return nil
}

// explained says where their time went; failed is the failure of one of them, if any.
func (s *starts) explained(f *explainFlags, env, lacks string, failed *record.Failure) (*timeline.Explanation, error) {
	if lacks != "" && len(s.timed) > 0 {
		from, until := f.stretch()
		return timeline.Outside(env, from, until, s.timed, lacks)
	}
	switch {
	case len(s.traces) == 0 && failed != nil:
		return nil, fail(SomeFailed, "no start succeeded: %s: %s", failed.Class, failed.Text)
	case len(s.traces) == 0:
		return nil, fail(NothingHere, "no start was traced")
	}
	if len(s.untraced) != len(s.traces) {
		s.untraced = nil // some neighbours are missing: what tracing costs stays untold
	}
	x, err := timeline.Explain(s.traces, s.untraced)
	if err == nil && f.received != nil {
		f.told(x, env)
	}
	return x, err
}
