//go:build linux

package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/internal/common/harmless"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/run"
	"plimsoll/internal/measure/slurm"
	"plimsoll/internal/record"
)

// slurmRun is a run that a cluster's jobs carry out, one after the other,
// seen from the login node.
type slurmRun struct {
	w        World
	f        reportFlags
	finish   context.Context // the user wants an end
	broken   context.Context // and wants it now
	client   slurm.Client
	ledger   *slurm.Ledger
	mu       sync.Mutex // of progress: a job is followed by a goroutine of its own
	progress run.Progress

	id      string
	begin   []string // the arguments that begin the run
	resume  []string // further ones that go on with it
	unlike  bool
	request slurm.Request
	most    int
	jobs    int // submitted by us
}

// newSlurmRun writes down what is to be run; the study is read here, so that a
// slip in it is found before a job waits for hours to find it.
func newSlurmRun(w World, cmd *cobra.Command, args []string, o *onFlags, ch changes, dir string) (*slurmRun, error) {
	if cmd.ArgsLenAtDash() >= 0 {
		return nil, withHint(fail(Usage, "--on slurm takes a study, and not a command of your own"), "write the command into a workload's file, and submit a study of that")
	}
	s, err := newSetting(w)
	if err != nil {
		return nil, err
	}
	st, _, err := s.read(studyName(args), ch)
	if err != nil {
		return nil, err
	}
	name := studyName(args)
	if st.Path != "" {
		if name, err = filepath.Abs(st.Path); err != nil {
			return nil, fail(Failed, "%w", err)
		}
	}
	if dir, err = outputDir(dir, studyName(args)); err != nil {
		return nil, err
	}
	if holdsRun(dir) || slurm.Kept(dir) {
		return nil, withHint(fail(Usage, "%s already holds a run", dir), "go on with it by plimsoll run --resume %s, or choose another directory", shortPath(dir))
	}
	if err := takesRecord(dir); err != nil {
		return nil, err
	}
	r := &slurmRun{w: w, id: record.NewRunID(), request: o.request, most: o.most}
	r.begin = append([]string{"run", name}, given(cmd.Flags(), flagsFor(inJob|ofJob))...)
	r.begin = append(r.begin, "--on="+onJob, "--output="+dir, "--run-id="+r.id, "--wait", "--progress=plain")
	if err := r.present(); err != nil {
		return nil, err
	}
	if r.ledger, err = slurm.Open(dir); err != nil {
		return nil, fail(Failed, "%w", err)
	}
	return r, nil
}

// oldSlurmRun goes on with a run that was begun so, whatever has become of its
// jobs.
func oldSlurmRun(w World, cmd *cobra.Command, o *onFlags, dir string, trust bool) (*slurmRun, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fail(Failed, "%w", err)
	}
	r := &slurmRun{w: w, most: o.most}
	var trusted []int
	if slurm.Kept(dir) { // else there is a record alone, of which the job asks the same
		if trusted, err = trustFiles(w, "account", "it says what its jobs run", trust, slurm.AccountOf(dir)...); err != nil {
			return nil, err
		}
	}
	if err := r.present(); err != nil {
		return nil, err
	}
	if r.ledger, err = slurm.Open(dir, trusted...); err != nil {
		return nil, fail(Failed, "%w", err)
	}
	asked, _, _ := r.ledger.Last()
	if asked == nil || asked.Request == nil {
		// A record that was begun here, and is to be gone on with on the cluster.
		rec, err := openRun(dir)
		if err != nil {
			return nil, errors.Join(err, r.ledger.Close())
		}
		r.id, r.request = rec.Run().ID, o.request
		return r, nil
	}
	r.id, r.begin, r.request = asked.Run, asked.Begin, o.over(cmd, *asked.Request)
	return r, nil
}

// present looks for Slurm's commands.
func (r *slurmRun) present() error {
	for _, c := range slurm.Commands {
		if _, err := r.w.LookPath(c); err != nil {
			return withHint(fail(NothingHere, "there is no %s on the PATH", c), "--on slurm is for a login node of a cluster with Slurm; some sites want `module load slurm` first")
		}
	}
	return nil
}

func (r *slurmRun) say(format string, a ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.progress.Remark(fmt.Sprintf(format, a...))
}

// execute submits, follows, and submits the rest, until the study is done or
// nobody but the user can say how it goes on.
func (r *slurmRun) execute() error {
	defer func() { _ = r.ledger.Close() }()
	for {
		job, err := r.job()
		if err != nil {
			return err
		}
		j, cancelled, err := r.follow(job)
		if err != nil {
			return err
		}
		again, err := r.judge(job, j, cancelled)
		if err != nil || !again {
			return err
		}
	}
}

// job gives the run's job that is to be followed: the last one where nobody
// has seen its end yet, else a new one.
func (r *slurmRun) job() (string, error) {
	asked, job, end := r.ledger.Last()
	switch {
	case asked == nil || end != nil:
		return r.submit()
	case job != "":
		return job, nil
	}
	// We were killed while it was being submitted: it is found by its name.
	jobs, err := r.client.Named(r.finish, slurm.Name(r.id))
	if err != nil {
		return "", fail(Failed, "looking for the run's job: %w", err)
	}
	for _, j := range slices.Backward(jobs) {
		if j.Ours(r.id) {
			return j.ID, r.submitted(j.ID)
		}
	}
	return r.submit()
}

func (r *slurmRun) submitted(job string) error {
	if err := r.ledger.Write(slurm.Entry{Step: slurm.Submitted, Run: r.id, Job: job}); err != nil {
		return withHint(fail(Failed, "%w", err), "job %s was submitted all the same: scancel %s cancels it", job, job)
	}
	return nil
}

// submit submits a job that begins the run, or goes on with it.
func (r *slurmRun) submit() (string, error) {
	if status, _, err := recorded(r.ledger.Dir); err != nil {
		return "", err
	} else if status == "done" {
		return "", r.finished()
	}
	if err := r.finish.Err(); err != nil {
		return "", fail(Interrupted, "interrupted before a job was submitted")
	}
	program, err := ownProgram(r.w)
	if err != nil {
		return "", fail(Failed, "finding the program that the job is to run: %w", err)
	}
	s, err := newSetting(r.w)
	if err != nil {
		return "", err
	}
	dir := r.ledger.Dir
	script := &slurm.Script{
		Run: r.id, Program: program, Dir: dir, Jobs: slurm.JobsDir(dir), Begin: r.begin, Images: s.state.Images(),
		Resume: append(append([]string{"run", "--resume", dir, "--run-id=" + r.id, "--wait", "--progress=plain"}, r.places()...), r.resume...),
	}
	if jobsStateShared {
		script.State = filepath.Join(slurm.JobsDir(dir), "state")
	}
	path, err := r.ledger.WriteScript(script)
	if err != nil {
		return "", fail(Failed, "%w", err)
	}
	if err := r.ledger.Write(slurm.Entry{Step: slurm.Submitting, Run: r.id, Request: &r.request, Begin: r.begin}); err != nil {
		return "", fail(Failed, "%w", err)
	}
	job, err := r.client.Submit(r.finish, &r.request, r.id, r.ledger.LogPattern(), path)
	if err != nil {
		return "", r.refused(err)
	}
	r.jobs++
	if err := r.submitted(job); err != nil {
		return "", err
	}
	r.say("submitted job %s (%s)", job, slurm.Name(r.id))
	return job, nil
}

// places are where file systems are that the study names: a run that is gone on
// with is told again.
func (r *slurmRun) places() []string {
	return slices.DeleteFunc(slices.Clone(r.begin), func(a string) bool { return !strings.HasPrefix(a, "--"+engine.ImageOn+"=") })
}

// refused is what the site said to a submission, with what may help.
func (r *slurmRun) refused(err error) error {
	var e *slurm.Error
	if !errors.As(err, &e) {
		return fail(Failed, "submitting the job: %w", err)
	}
	// Nothing was submitted: the next one begins anew.
	if werr := r.ledger.Write(slurm.Entry{Step: slurm.Ended, Run: r.id, State: slurm.Failed}); werr != nil {
		return fail(Failed, "submitting the job: %w", errors.Join(err, werr))
	}
	failed := fail(Failed, "submitting the job: %w", err)
	if parts := r.client.Partitions(r.finish); e.Says("partition") && len(parts) > 0 {
		return withHint(failed, "the partitions here: %s; then: plimsoll run --resume %s --partition NAME", strings.Join(parts, ", "), shortPath(r.ledger.Dir))
	}
	return withHint(failed, "--partition, --account, --time-limit and --slurm-option say what a site wants; then: plimsoll run --resume %s", shortPath(r.ledger.Dir))
}

// ownProgram is the path by which we were called, which the nodes should have
// too: links stay, as a site's modules and homes go through them.
func ownProgram(w World) (string, error) {
	name := os.Args[0]
	if !strings.ContainsRune(name, filepath.Separator) {
		found, err := w.LookPath(name)
		if err != nil {
			return os.Executable()
		}
		name = found
	}
	return filepath.Abs(name)
}

// gentle is how long a trial in flight and the clean-up may take after the user
// wants an end, and gone how long Slurm may take to end what is cancelled.
const (
	gentle = 5 * time.Minute
	gone   = 2 * time.Minute
)

// follow follows a job to its end; cancelled says that the user wanted that.
func (r *slurmRun) follow(job string) (j slurm.Job, cancelled bool, err error) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	watch := newRecordFollower(r.ledger.Dir, r.progress)
	locked := func(f func()) {
		r.mu.Lock()
		defer r.mu.Unlock()
		f()
	}
	var ferr error
	done := make(chan struct{})
	go func() {
		defer close(done)
		j, ferr = r.client.Follow(ctx, job, slurm.Following{
			Changed: func(j slurm.Job) {
				if !j.State.Over() || j.State == slurm.Completed { // another end is told with what follows from it
					locked(func() { r.progress.Step(jobCourse(j)) })
				}
			},
			Tick:   func() { locked(watch.tick) },
			Remark: func(text string) { locked(func() { r.progress.Remark(text) }) },
			Ended:  func() bool { _, ok := r.ledger.End(job); return ok },
		})
	}()
	ended := func(d time.Duration, or <-chan struct{}) bool {
		select {
		case <-done:
			return true
		case <-or:
		case <-time.After(d):
		}
		return false
	}
	select {
	case <-done:
	case <-r.finish.Done():
		cancelled = true
		if letsGo(context.Cause(r.finish)) {
			stop()
			<-done
			return j, false, withHint(fail(Interrupted, "job %s goes on by itself", job), "plimsoll run --resume %s follows it again", shortPath(r.ledger.Dir))
		}
		if err := r.cancel(job, true); err != nil {
			return j, false, err
		}
		r.say("cancelling job %s: it ends after the trial in flight; Ctrl-C again breaks that off", job)
		if !ended(gentle, r.broken.Done()) {
			if err := r.cancel(job, false); err != nil {
				return j, false, err
			}
			if !ended(gone, nil) {
				return j, false, withHint(fail(Failed, "job %s was cancelled and has not ended", job), "squeue --jobs %s says how it is; plimsoll run --resume %s follows it again", job, shortPath(r.ledger.Dir))
			}
		}
	}
	locked(func() {
		watch.tick()
		r.progress.End()
	})
	return j, cancelled, ferr
}

func (r *slurmRun) cancel(job string, gently bool) error {
	err := r.client.End(context.WithoutCancel(r.broken), job, r.id, gently)
	if errors.Is(err, slurm.ErrUnknown) {
		return nil // it has ended
	}
	return failing(err)
}

// letsGo says whether what ended the first context leaves the job alone: a
// lost terminal, session or login node. Ctrl-C cancels it.
func letsGo(cause error) bool {
	if sig, ok := errors.AsType[signalled](cause); ok {
		return sig.Signal != os.Interrupt
	}
	return errors.Is(cause, errLost) || errors.Is(cause, syscall.EPIPE)
}

// jobCourse says how a job is.
func jobCourse(j slurm.Job) string {
	s := "job " + j.ID + " "
	switch {
	case j.State.Waits():
		s += "waits"
		if j.Reason != "" {
			s += " (" + j.Reason + ")"
		}
		if j.Start != "" {
			s += ", to begin at " + j.Start
		}
	case j.State == slurm.Running:
		s += "runs on " + j.Nodes
	case j.State.Over():
		s += "has ended: " + j.State.Text()
	default:
		s += "is " + strings.ToLower(string(j.State))
	}
	return harmless.Text(s)
}

// runBySlurm is plimsoll run --on slurm.
func runBySlurm(w World, cmd *cobra.Command, args []string, a *runAsked, finish, broken context.Context) error {
	if a.noise != "" {
		return withHint(fail(Usage, "--noise is of one machine, and a job may come to any"), "leave it out")
	}
	if err := fits(a.format, false, a.resume != ""); err != nil {
		return err
	}
	var r *slurmRun
	var err error
	if a.resume == "" {
		if a.trust {
			return fail(Usage, "--trust-record is for --resume: a new run has no record yet")
		}
		r, err = newSlurmRun(w, cmd, args, &a.job, a.changes, a.dir)
	} else if err = keepsStudy(cmd.Flags(), args, "on"); err == nil {
		r, err = oldSlurmRun(w, cmd, &a.job, a.resume, a.trust)
	}
	if err != nil {
		return err
	}
	r.f, r.finish, r.broken, r.unlike = a.reportFlags, finish, broken, a.gate.unlike
	if r.unlike {
		r.request.NodeList = ""
		r.resume = append(r.resume, "--unlike")
	}
	for flag, on := range map[string]bool{"--trust-record": a.trust, "--force": a.force} {
		if on {
			r.resume = append(r.resume, flag)
		}
	}
	slices.Sort(r.resume)
	r.progress = newProgress(w, a.progress)
	return r.execute()
}
