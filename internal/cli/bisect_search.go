//go:build linux

package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"plimsoll/internal/common/harmless"
	"plimsoll/internal/measure/revision"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze/bisection"
	"plimsoll/internal/understand/analyze/releases"
	"plimsoll/internal/understand/report"
	"plimsoll/internal/understand/words"
)

// bisectSearch is a search under way.
type bisectSearch struct {
	*bisectFlags
	world   World
	dir     string
	state   *bisectState
	repo    *revision.Repo
	commits []revision.Commit
	search  *bisection.Search
	builds  *bisectBuilds
	shown   record.Metric
	began   time.Time
	had     int // steps that were answered before
}

// begin reads the range, and takes the answers that there are.
func (b *bisectSearch) begin(ctx context.Context) error {
	var err error
	a := &b.state.Asked
	if b.repo, err = revision.Open(ctx, a.Repo); err != nil {
		return fail(Usage, "--repo %w", err)
	}
	for _, end := range []*string{&b.state.Good, &b.state.Bad} {
		if *end, err = b.repo.Resolve(ctx, *end); err != nil {
			return fail(Usage, "%w", err)
		}
	}
	base, err := b.repo.Base(ctx, b.state.Good, b.state.Bad)
	if err != nil {
		return fail(Usage, "%w", err)
	}
	if base != b.state.Good { // as git bisect does
		b.state.Given, b.state.Good = b.state.Good, base
	}
	if b.commits, err = b.repo.Between(ctx, b.state.Good, b.state.Bad, a.FirstParent); err != nil {
		return fail(Usage, "%w", err)
	}
	at := map[string]int{}
	parents := make([][]int, len(b.commits))
	for i, c := range b.commits {
		for _, p := range c.Parents {
			if k, ok := at[p]; ok {
				parents[i] = append(parents[i], k)
			}
		}
		at[c.Hash] = i
	}
	r, err := bisection.NewRange(parents)
	if err != nil {
		return withHint(fail(Usage, "%w", err), "--first-parent follows the main branch alone")
	}
	b.search = bisection.New(r, a.Alpha)
	steps := b.state.Steps
	b.state.Steps = nil
	for _, s := range steps {
		q, more := b.search.Next()
		if !more || s.Kind != q.Kind || s.Commit != b.hash(q) {
			return withHint(fail(Usage, "the answers in %s are of another search", filepath.Join(b.dir, bisectFile)), "begin a new one")
		}
		if s.Finding.Verdict == bisection.Unseen { // the machine may see it now
			break
		}
		b.state.Steps = append(b.state.Steps, s)
		b.search.Answer(q, s.Finding)
	}
	return nil
}

// hash is the commit that a question is about.
func (b *bisectSearch) hash(q bisection.Question) string {
	if q.Kind == bisection.Ends {
		return b.state.Bad
	}
	return b.at(q.Commit)
}

func (b *bisectSearch) at(i int) string {
	if i == bisection.GoodEnd {
		return b.state.Good
	}
	return b.commits[i].Hash
}

// announce says how much there is to do, before it is done.
func (b *bisectSearch) announce() {
	if b.state.Given != "" {
		fmt.Fprintf(b.world.Stderr, "the good commit %s does not come before the bad one: %s, where their histories part, is taken for the good end\n", revision.Short(b.state.Given), revision.Short(b.state.Good))
	}
	steps := b.search.Steps()
	if b.bySize() {
		fmt.Fprintf(b.world.Stderr, "%s: %s after %s: about %s to build, and nothing to measure\n", b.state.Asked.Program,
			words.Plural(len(b.commits), "commit"), revision.Short(b.state.Good), words.Plural(steps+2, "commit"))
		return
	}
	fmt.Fprintf(b.world.Stderr, "%s: %s after %s: about %s to build, at most %s to measure, of %s each at the most\n", b.state.Asked.Program,
		words.Plural(len(b.commits), "commit"), revision.Short(b.state.Good), words.Plural(steps+2, "commit"), words.Plural(steps+2, "time"), b.state.Asked.Budget)
}

// foresee says how long it goes on, by what it took so far.
func (b *bisectSearch) foresee() {
	steps := b.search.Steps()
	if _, more := b.search.Next(); !more || steps == 0 || b.builds.made == 0 {
		return
	}
	each := b.builds.took / time.Duration(b.builds.made)
	measuring := (time.Since(b.began) - b.builds.took) / time.Duration(max(1, len(b.state.Steps)-b.had))
	least := time.Duration(steps) * (each + measuring)
	fmt.Fprintf(b.world.Stderr, "%s to go, about %s: a build took %s\n", words.Plural(steps, "step"), max(least, time.Second).Round(time.Second), each.Round(100*time.Millisecond))
}

// run asks and answers until nothing is left to ask.
func (b *bisectSearch) run(ctx context.Context) error {
	b.announce()
	b.began, b.had = time.Now(), len(b.state.Steps)
	for {
		q, more := b.search.Next()
		if !more {
			return nil
		}
		step, err := b.answer(ctx, q)
		if err != nil {
			return b.cutOff(err)
		}
		b.state.Steps = append(b.state.Steps, step)
		if err := b.state.write(b.world, b.dir); err != nil {
			return fail(Failed, "%w", err)
		}
		b.search.Answer(q, step.Finding)
		before, bad := b.search.Between()
		if err := b.builds.only(b.state.Good, b.state.Bad, b.at(before), b.at(bad)); err != nil {
			return fail(Failed, "%w", err)
		}
		b.foresee()
	}
}

// cutOff adds to an error how the search goes on.
func (b *bisectSearch) cutOff(err error) error {
	var e *exitError
	if errors.As(err, &e) && e.hint != "" && e.status != Interrupted {
		return err
	}
	return withHint(err, "go on with: %s", b.resume())
}

func (b *bisectSearch) resume() string {
	return harmless.ShellLine([]string{"plimsoll", "bisect", "--resume", shortPath(b.dir)})
}

// answer builds what a question needs, and measures it.
func (b *bisectSearch) answer(ctx context.Context, q bisection.Question) (report.BisectionStep, error) {
	step := report.BisectionStep{Kind: q.Kind, Commit: b.hash(q)}
	levels := []struct{ level, hash string }{{goodLevel, b.state.Good}, {badLevel, b.state.Bad}}
	switch q.Kind {
	case bisection.Ends:
		step.Before = b.state.Good
	case bisection.Pair:
		step.Before = b.at(q.Before)
		levels = append(levels, struct{ level, hash string }{beforeLevel, step.Before}, struct{ level, hash string }{candidateLevel, step.Commit})
	default:
		levels = append(levels, struct{ level, hash string }{candidateLevel, step.Commit})
	}
	x := commitRun{betweenFlags: &b.betweenFlags, program: b.state.Asked.Program, rest: b.state.Asked.Rest, kind: q.Kind, test: q.Test, command: b.command()}
	for _, l := range levels {
		made, err := b.builds.program(ctx, l.hash, l.level)
		var failed *revision.BuildError
		if errors.As(err, &failed) && l.level == candidateLevel {
			step.Finding, step.Why = bisection.Finding{Verdict: bisection.Skipped}, err.Error()
			return step, nil
		}
		if err != nil {
			if _, ok := errors.AsType[*exitError](err); ok {
				return step, err
			}
			err = fail(Failed, "%s end, %s: %w", l.level, revision.Short(l.hash), err)
			if failed != nil {
				err = withHint(err, "both ends have to build and to run: mend --build, or give another --%s", l.level)
			}
			return step, err
		}
		b.state.Digests[l.hash] = made.SHA256
		x.builds = append(x.builds, made)
	}
	if f, why := b.same(q, step.Commit); why != "" {
		step.Finding, step.Why = f, why
		return step, nil
	}
	if b.bySize() {
		if step.Finding, step.Why = sized(q.Kind, x.builds); step.Finding.Verdict == bisection.Unseen {
			return step, withHint(fail(Failed, "built anew, %s", step.Why), "--build has to give the same program of a commit each time")
		}
		b.shown = releases.Size
		return step, nil
	}
	x.dir = b.state.stepDir(b.dir, string(q.Kind)+"-"+revision.Short(step.Commit))
	if err := x.run(b.world); err != nil {
		return step, err
	}
	step.Finding, step.Why = x.finding, x.why
	if _, err := os.Lstat(x.dir); err == nil {
		step.Record = filepath.Base(x.dir)
	}
	b.state.Asked.Metric, b.betweenFlags.metric = x.metric, x.metric
	if x.metrics.ID != "" { // of a commit that can't be started there is none
		b.shown = x.metrics
	}
	return step, nil
}

// same answers without measuring where a commit's program is the very one of another
// that is decided.
func (b *bisectSearch) same(q bisection.Question, hash string) (bisection.Finding, string) {
	digest := b.state.Digests[hash]
	switch q.Kind {
	case bisection.Ends:
		if digest == b.state.Digests[b.state.Good] {
			return bisection.Finding{Verdict: bisection.Unclear}, "both ends give the very same program"
		}
	case bisection.Candidate:
		for of, v := range b.decided() {
			if b.state.Digests[of] == digest {
				return bisection.Finding{Verdict: v}, "its program is that of " + revision.Short(of)
			}
		}
	}
	return bisection.Finding{}, ""
}

// decided are the commits that are known to be like an end, and like which.
func (b *bisectSearch) decided() map[string]bisection.Verdict {
	out := map[string]bisection.Verdict{b.state.Good: bisection.AsGood, b.state.Bad: bisection.AsBad}
	for _, s := range b.state.Steps {
		if v := s.Finding.Verdict; v == bisection.AsGood || v == bisection.AsBad {
			out[s.Commit] = v
		}
	}
	return out
}

// result is what it came to.
func (b *bisectSearch) result(ctx context.Context) (*report.Bisection, error) {
	a := &b.state.Asked
	good, err := b.repo.One(ctx, b.state.Good)
	if err != nil {
		return nil, fail(Failed, "%w", err)
	}
	out := &report.Bisection{Schema: report.BisectionSchema, Program: a.Program, Workload: a.Workload, Metric: b.shown, Alpha: a.Alpha,
		Good: revisionOf(good), Outcome: b.search.Outcome(), Steps: b.state.Steps, Resume: b.resume()}
	if b.state.Given != "" {
		given, err := b.repo.One(ctx, b.state.Given)
		if err != nil {
			return nil, fail(Failed, "%w", err)
		}
		r := revisionOf(given)
		out.Given = &r
	}
	if out.Metric.ID == "" {
		out.Metric = knownMetric(a.Metric)
	}
	if b.bySize() {
		out.Workload = "" // it is of no workload
	}
	for _, c := range b.commits {
		out.Commits = append(out.Commits, revisionOf(c))
	}
	if o := out.Outcome; o.Result == bisection.Found {
		if out.Stat, err = b.repo.Stat(ctx, b.at(o.Commits[0])); err != nil {
			return nil, fail(Failed, "%w", err)
		}
	}
	out.Judge()
	return out, nil
}

func revisionOf(c revision.Commit) report.Revision {
	return report.Revision{Hash: c.Hash, Subject: c.Subject, Author: c.Author, At: c.At}
}

// knownMetric is the size, or one of the life cycle, or one of which only the name is
// known.
func knownMetric(id string) record.Metric {
	for _, m := range decidingMetrics() {
		if m.ID == id {
			return m
		}
	}
	return record.Metric{ID: id}
}

// claimed is a search with a directory of ours for its work trees, which is taken away
// at its end.
func (b *bisectSearch) claimed(ctx context.Context, s *setting) error {
	id := record.NewRunID()
	below, err := s.state.Claim(id, b.dir, s.user)
	if err != nil {
		return fail(Failed, "%w", err)
	}
	b.builds = &bisectBuilds{world: b.world, set: s, repo: b.repo, asked: &b.state.Asked, keep: b.dir, below: below, trees: map[string]*revision.Tree{}, paths: map[string]string{}}
	err = b.run(ctx)
	if rerr := s.state.Release(id); rerr != nil && err == nil {
		err = withHint(fail(Failed, "%w", rerr), "plimsoll clean removes it")
	}
	return err
}
