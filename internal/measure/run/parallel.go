package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"plimsoll/internal/common/safepath"
	"plimsoll/internal/measure/collect"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/mpi"
	"plimsoll/internal/measure/place"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/measure/study"
	"plimsoll/internal/measure/workload"
	"plimsoll/internal/record"
)

// parallel is a program of many ranks: the launcher of an MPI library or of a
// workload manager starts them, each in a container, and every one of them proves
// that it ran. The times of the containers' life are those of all of them: from
// the launcher's start to the last rank's first instruction, and so on.
type parallel struct {
	*site
	plan  *workload.Plan
	unmet func(workload.Needs, *openEnv) *record.Failure
	place place.Place
	look  place.Look
	// ways are the transports that trials have had, by workload and environment.
	ways    map[string]map[string]string
	host    *hostLibrary
	session *session
}

func (p parallel) watched(bool) bool { return true }

func (p parallel) trial(ctx context.Context, s study.Trial, o *openEnv) (*record.Trial, engine.Result, error) {
	t := begun(s, o)
	if why := p.unmet(p.plan.Needs, o); why != nil {
		t.Failure, p.settled = why, why.Class == record.Unsupported
		return t, engine.Result{}, nil
	}
	env, ok := o.env.(engine.Parallel)
	if !ok {
		p.refuse(t, o.rec.ID+" can't be started by a launcher of parallel programs: its container is not a command in the foreground, or its adapter does not have it")
		return t, engine.Result{}, nil
	}
	j := &ranked{parallel: p, o: o, seq: s.Seq, word: newWord(), limit: cmp.Or(p.plan.Limit, p.limit())}
	ranks, task, err := j.prepare(ctx)
	if err != nil {
		t.Failure = engine.FailureOf(err)
		return t, engine.Result{}, errors.Join(j.clear(), ctx.Err())
	}
	if err := p.settle(ctx, o, t); err != nil || !t.OK() {
		_ = j.clear() // what stays is removed with the run's folder
		return unsettled(t, err)
	}
	var res engine.Result
	var sampled *collect.Series
	p.observe(o, t, func() {
		series := p.watching.begin(o, "", j.word, nil)
		res, err = safely(func() (engine.Result, error) { return env.RunRanks(ctx, ranks, task) })
		sampled = ended(series, res.Events[record.Request])
	})
	if err != nil && ctx.Err() != nil {
		_ = j.clear()
		return nil, res, ctx.Err() // broken off by the user: no result
	}
	if err != nil {
		t.Failure = engine.FailureOf(err)
	}
	p.refused(res)
	said, err := place.Outputs(j.out, outputLimit)
	if err != nil && t.Failure == nil {
		t.Failure = &record.Failure{Class: record.HarnessError, Text: "reading what the ranks printed: " + err.Error()}
	}
	j.judge(t, res, said)
	p.keepWatched(t, sampled, true)
	if err := j.clear(); err != nil && t.Failure == nil {
		t.Failure = &record.Failure{Class: record.UncleanEnd, Text: err.Error()}
	}
	res.Stdout, res.Stderr = transcriptOf(res, said)
	return t, res, ctx.Err()
}

// ranked is one job of ranks.
type ranked struct {
	parallel
	o     *openEnv
	seq   int
	word  string
	limit time.Duration
	// work is every rank's /work, out where their streams go, scratch where the
	// launcher keeps its own.
	work, out, scratch string
	bound              *mpi.Host // what they are to load; nil: the image's library
}

// prepare makes the job's directories and its command.
func (j *ranked) prepare(ctx context.Context) (ranks engine.Ranks, task engine.Task, err error) {
	if j.work, err = ownDir(j.kit.Dir, fmt.Sprintf("work-%d", j.seq)); err != nil {
		return ranks, task, err
	}
	if j.out, err = ownDir(j.kit.Dir, fmt.Sprintf("ranks-%d", j.seq)); err != nil {
		return ranks, task, err
	}
	if err := j.scratchDir(); err != nil {
		return ranks, task, err
	}
	l := j.plan.Launch
	if l.Program {
		if err := mpi.Put(j.work); err != nil {
			return ranks, task, err
		}
	}
	launch, err := j.place.Launch(ctx, place.Job{Ranks: l.Ranks, Nodes: l.Nodes, Dir: j.out, Scratch: j.scratch}, j.look)
	if err != nil {
		j.settled = true
		return ranks, task, err
	}
	role, err := j.plan.Roles[0].Resolve(nil)
	if err != nil {
		return ranks, task, err
	}
	args := role.Task
	args.Word, args.Report = j.word, true
	argv, err := args.Argv(probePath)
	if err != nil {
		return ranks, task, err
	}
	task = engine.Task{
		Name: fmt.Sprintf("plimsoll-%s-%d", j.rec.ID, j.seq), Argv: argv, Env: role.Env, Limit: j.limit, OutputLimit: outputLimit,
		Mounts: j.plan.Files.Mounts(j.work), Checked: j.cold(),
	}
	ranks = engine.Ranks{
		Launcher: launch.Argv, Env: append(launch.Env, mpi.Verbose...), Shared: l.Shared,
		PerNode: (l.Ranks + l.Nodes - 1) / l.Nodes, Nodes: l.Nodes, Scratch: j.scratch,
	}
	if l.Bound {
		err = j.bind(ctx, &ranks, &task)
	}
	return ranks, task, err
}

// scratchDir makes the launcher's own directory below /tmp, which is the same
// inside of what is started by it, as their users have it; and not in the run's
// folder, which is not.
func (j *ranked) scratchDir() error {
	dir := filepath.Join(scratchParent, fmt.Sprintf("plimsoll-%s-%d", j.rec.ID, j.seq))
	if err := j.kit.Ledger.Made(engine.Thing{Kind: engine.KindFile, Name: dir}); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return errors.Join(fmt.Errorf("making the launcher's directory: %w", err), j.kit.Ledger.Gone(engine.Thing{Kind: engine.KindFile, Name: dir}))
	}
	j.scratch = dir
	return os.Chmod(dir, 0o777|os.ModeSticky) // ranks may be an ordinary user's
}

// scratchParent is where launchers keep their files.
const scratchParent = "/tmp"

// clear removes the job's directories.
func (j *ranked) clear() error {
	var errs []error
	for _, dir := range []string{j.work, j.out, j.scratch} {
		if dir != "" {
			errs = append(errs, safepath.RemoveAll(dir))
		}
	}
	err := errors.Join(errs...)
	if err == nil && j.scratch != "" {
		err = j.kit.Ledger.Gone(engine.Thing{Kind: engine.KindFile, Name: j.scratch})
	}
	return err
}

// transcriptOf is what the launcher and all ranks printed, for the file beside
// the record.
func transcriptOf(res engine.Result, said []place.Output) (stdout, stderr []byte) {
	var out, errs strings.Builder
	put := func(b *strings.Builder, who string, text []byte) {
		if len(text) > 0 && b.Len() < outputLimit {
			fmt.Fprintf(b, "== %s\n%s\n", who, text)
		}
	}
	put(&out, "the launcher", res.Stdout)
	put(&errs, "the launcher", res.Stderr)
	for _, o := range said {
		put(&out, fmt.Sprintf("rank %d", o.Rank), o.Stdout)
		put(&errs, fmt.Sprintf("rank %d", o.Rank), o.Stderr)
	}
	return []byte(out.String()), []byte(errs.String())
}

// proofs reads what each rank's probe said.
func (j *ranked) proofs(said []place.Output) (tasks []probe.Task, err error) {
	for _, o := range said {
		task, perr := probe.ParseTask(o.Stdout, j.word)
		if perr != nil {
			err = errors.Join(err, fmt.Errorf("rank %d: %w", o.Rank, perr))
			if !errors.Is(perr, probe.ErrTorn) {
				continue
			}
		}
		tasks = append(tasks, task)
	}
	return tasks, err
}
