//go:build linux

package cli

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/internal/common/harmless"
	"plimsoll/internal/common/safepath"
	"plimsoll/internal/measure/run"
	"plimsoll/internal/measure/slurm"
)

// late is how long a shared file system may take to show the login node what a
// job has written last.
const late = 10 * time.Second

// judge says how it goes on after a job's end: with another job, or not, and
// how that is told.
func (r *slurmRun) judge(job string, j slurm.Job, cancelled bool) (again bool, err error) {
	status, sum, exit, err := r.settled(job, j)
	if err != nil {
		return false, err
	}
	before := 0
	for _, e := range r.ledger.Entries {
		if e.Step == slurm.Ended {
			before = max(before, e.Trials)
		}
	}
	end := slurm.Entry{Step: slurm.Ended, Run: r.id, Job: job, State: j.State, Nodes: j.Nodes, Trials: sum.Trials}
	werr := r.ledger.Write(end)
	if status == "done" {
		return false, r.finished()
	}
	dir := shortPath(r.ledger.Dir)
	trials := fmt.Sprintf("%d trials are recorded", sum.Trials)
	full := fullAt(r.ledger.Dir)
	if full == "" && strings.Contains(lastWords(r.ledger.Log(job)), unix.ENOSPC.Error()) {
		// What the job's plimsoll cleared away at its end has made some room.
		full = fmt.Sprintf("the file system of %s was full", r.ledger.Dir)
	}
	if full != "" {
		return false, withHint(fail(Failed, "job %s has ended, and %s; %s", job, full, trials), "free some room, then: plimsoll run --resume %s", dir)
	}
	if werr != nil {
		return false, fail(Failed, "%w", werr)
	}
	if cancelled {
		return false, withHint(fail(Interrupted, "cancelled; %s", trials), "go on with: plimsoll run --resume %s", dir)
	}
	why := j.State.Text()
	// The script was told of the time limit, and plimsoll has ended in order.
	warned := exit == int(Interrupted)
	if warned {
		why = "its time limit was near"
	}
	switch {
	case !warned && !j.State.Again():
		return false, r.ended(job, j, exit, sum.Trials)
	case sum.Trials <= before:
		return false, withHint(fail(Interrupted, "job %s has ended: %s, and it has recorded no trial", job, why), "give it more time by --time-limit, or other nodes: plimsoll run --resume %s", dir)
	case r.jobs >= r.most:
		return false, withHint(fail(Interrupted, "job %s has ended: %s; %s, by %d jobs", job, why, trials, r.jobs), "--max-jobs allows more: plimsoll run --resume %s", dir)
	}
	r.say("job %s has ended: %s; %s, the rest is submitted", job, why, trials)
	r.sameNodes(j)
	return true, nil
}

// settled reads the record once it is as the job has left it.
func (r *slurmRun) settled(job string, j slurm.Job) (status string, sum run.Summary, exit int, err error) {
	for begin := time.Now(); ; time.Sleep(200 * time.Millisecond) {
		var written bool
		exit, written = r.ledger.End(job)
		if !written {
			exit = -1
		}
		status, sum, err = recorded(r.ledger.Dir)
		orderly := j.State == slurm.Completed || j.State == slurm.Failed
		if (written && status != "running") || !orderly || time.Since(begin) > late {
			return status, sum, exit, err
		}
	}
}

// sameNodes has the rest run where it was begun: another node is another
// machine, which a record takes only where the user says so.
func (r *slurmRun) sameNodes(j slurm.Job) {
	if r.unlike || r.request.NodeList != "" || j.Nodes == "" {
		return
	}
	r.request.NodeList = j.Nodes
	nodes, err := r.client.Nodes(r.finish, j.Nodes)
	if err != nil {
		return // the queue says it then
	}
	var bad []string
	for _, n := range nodes {
		if n.Bad() {
			bad = append(bad, n.Name+" is "+n.State)
		}
	}
	if len(bad) > 0 {
		r.say("the job waits until all its nodes are there again (%s), since other nodes are other machines; to go on elsewhere: Ctrl-C, then plimsoll run --resume %s --unlike", strings.Join(bad, ", "), shortPath(r.ledger.Dir))
	}
}

// ended is the error of a job that has ended by its own doing, or in a way
// that another job would not mend.
func (r *slurmRun) ended(job string, j slurm.Job, exit, trials int) error {
	status := Failed
	how := j.State.Text()
	switch {
	case exit == int(Usage), exit == int(NothingHere):
		status = Status(exit)
		how = "its plimsoll said"
	case exit > 0:
		how = fmt.Sprintf("its plimsoll failed with status %d", exit)
	case j.State == slurm.Cancelled:
		status = Interrupted
	case exit < 0 && j.State == slurm.Failed:
		if code := r.client.ExitCode(r.finish, job); code != "" {
			how = "failed with " + code + " (status:signal)"
		}
	}
	text := fmt.Sprintf("job %s has ended: %s", job, how)
	if trials > 0 {
		text += fmt.Sprintf("; %d trials are recorded", trials)
	}
	if words := lastWords(r.ledger.Log(job)); words != "" && j.State != slurm.Cancelled {
		text += "\n" + words
	}
	return withHint(fail(status, "%s", text), "its log is %s; plimsoll run --resume %s submits the rest", r.ledger.Log(job), shortPath(r.ledger.Dir))
}

// lastWords are the last complaints in a job's log, else its last lines.
func lastWords(path string) string {
	const most, lines = 16 << 10, 5
	f, err := safepath.OpenRegular(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return ""
	}
	buf := make([]byte, min(most, info.Size()))
	if _, err := f.ReadAt(buf, info.Size()-int64(len(buf))); err != nil {
		return ""
	}
	var all, ours []string
	for line := range strings.Lines(string(buf)) {
		line = harmless.Text(strings.TrimRight(line, "\r\n"))
		if strings.TrimSpace(line) == "" {
			continue
		}
		all = append(all, line)
		if strings.HasPrefix(line, statusPrefix) {
			ours = append(ours, strings.TrimPrefix(line, statusPrefix))
		}
	}
	if len(ours) > 0 {
		all = ours
	}
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}

// fullAt says of the file system of a directory that it is full, else "".
func fullAt(dir string) string {
	const little = 64 << 10 // a trial's line, run.json and a line of log
	var st unix.Statfs_t
	if err := unix.Statfs(filepath.Clean(dir), &st); err != nil || st.Blocks == 0 {
		return "" // it is told by what could not be written
	}
	switch {
	case st.Bavail*uint64(st.Bsize) < little:
		return fmt.Sprintf("the file system of %s is full", dir)
	case st.Files > 0 && st.Ffree == 0:
		return fmt.Sprintf("the file system of %s has no room for another file", dir)
	}
	return ""
}

// finished prints the table of a run that is done.
func (r *slurmRun) finished() error {
	_, sum, err := recorded(r.ledger.Dir)
	if err != nil {
		return err
	}
	return finishRun(r.w, &sum, r.f, nil)
}
