package run

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/mpi"
	"plimsoll/internal/measure/place"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/measure/workload"
	"plimsoll/internal/record"
)

// judge reads what the ranks said and fills in the trial.
func (j *ranked) judge(t *record.Trial, res engine.Result, said []place.Output) {
	t.Events, t.Steps, t.Exit, t.Client = res.Events, res.Steps, res.Exit, res.Client
	tasks, perr := j.proofs(said)
	// What a rank says of its own end is nearer to the cause than what its
	// launcher says then, but for ranks that were told to end at the limit.
	if f := res.Failure; t.Failure == nil && f != nil && (f.Class == record.TimeOut || f.Class == record.OutOfMemory) {
		t.Failure = f
	}
	if why := j.mismatch(said); t.Failure == nil && why != "" {
		t.Failure = &record.Failure{Class: record.WrongComponent, Text: why}
		return
	}
	t.Failure = cmp.Or(t.Failure, j.failedRank(tasks, said), res.Failure)
	if t.Failure == nil && res.Exit != nil && *res.Exit != 0 {
		t.Failure = &record.Failure{Class: record.Crash, Text: fmt.Sprintf("the launcher ended with status %d", *res.Exit)}
	}
	if want := j.plan.Launch.Ranks; t.Failure == nil && (perr != nil || len(tasks) != want) {
		t.Failure = &record.Failure{Class: record.NoProof, Text: fmt.Sprintf("%d of %d ranks have proved that they ran", len(tasks), want)}
		if perr != nil {
			t.Failure.Text += ": " + perr.Error()
		}
	}
	if t.Failure != nil {
		j.explain(t, res, said)
		return
	}
	j.fill(t, tasks)
	seen, own, err := mpi.ParseSeen(printed(tasks))
	if err != nil {
		t.Failure = &record.Failure{Class: record.BadOutput, Text: err.Error()}
		return
	}
	if own && seen.Ranks != j.plan.Launch.Ranks {
		t.Failure = &record.Failure{Class: record.WrongComponent, Text: fmt.Sprintf(
			"rank 0 sees %d ranks and not %d: the MPI library does not understand its launcher, and each rank is a job of its own", seen.Ranks, j.plan.Launch.Ranks)}
		return
	}
	if j.bound != nil {
		if why := j.bound.Loaded(boundAt, seen); why != "" {
			t.Failure = &record.Failure{Class: record.WrongComponent, Text: why}
			return
		}
	}
	j.transport(t, tasks[0].Payload, seen, said)
	values, err := j.plan.Values(map[string][]byte{j.plan.Roles[0].Name: printed(tasks)})
	if err != nil {
		t.Failure = &record.Failure{Class: record.BadOutput, Text: err.Error()}
		return
	}
	t.Values = values
	j.standard(t, tasks)
}

// printed is what the measured programs of all ranks printed, in the order of the
// ranks.
func printed(tasks []probe.Task) []byte {
	var out bytes.Buffer
	for _, s := range tasks {
		out.Write(s.Output)
	}
	return out.Bytes()
}

// failedRank is the failure of the first rank that has one.
func (j *ranked) failedRank(tasks []probe.Task, said []place.Output) *record.Failure {
	for i, s := range tasks {
		f := failedStep(j.plan.Roles[0].Task, s)
		if f == nil {
			continue
		}
		f.Text = fmt.Sprintf("a rank: %s", f.Text)
		if i < len(said) {
			f.Text = fmt.Sprintf("rank %d: %s", said[i].Rank, strings.TrimPrefix(f.Text, "a rank: "))
			if line := lastOwnLine(said[i].Stderr); line != "" {
				f.Text += "; the last it said: " + line
			}
		}
		return f
	}
	return nil
}

// lastOwnLine is the last line that is not of the MPI library's account of itself.
func lastOwnLine(text []byte) string {
	var kept [][]byte
	for _, line := range bytes.Split(text, []byte("\n")) {
		if !bytes.Contains(line, []byte(" mca: ")) && !bytes.Contains(line, []byte(" select: ")) {
			kept = append(kept, line)
		}
	}
	return lastLine(bytes.Join(kept, []byte("\n")))
}

// explain names what the container lacks, where the workload's own words tell.
func (j *ranked) explain(t *record.Trial, res engine.Result, said []place.Output) {
	texts := [][]byte{res.Stderr, []byte(t.Failure.Text)}
	for _, o := range said {
		texts = append(texts, o.Stdout, o.Stderr)
	}
	lacking(t, j.plan.Lacks, texts)
}

// fill sets the stamps of all ranks together: the first instruction of the last
// one, and the end of the last one.
func (j *ranked) fill(t *record.Trial, tasks []probe.Task) {
	last := probe.Payload{}
	for _, s := range tasks {
		last.First, last.Done = max(last.First, s.First), max(last.Done, s.Done)
	}
	if j.plan.Launch.Nodes > 1 { // clocks of other nodes have nothing in common with ours
		t.Clock = record.ClockForeign
		return
	}
	stampInside(t, last)
	t.Binary = tasks[0].Binary
	for _, s := range tasks[1:] {
		if s.Binary != t.Binary {
			t.Remarks = append(t.Remarks, "not all ranks ran the same program")
			break
		}
	}
	j.judgeClock(t, j.o)
}

// standard are the metrics of every workload: the longest rank's time, the sum of
// their CPU times, the largest resident set of one.
func (j *ranked) standard(t *record.Trial, tasks []probe.Task) {
	for _, s := range tasks {
		one := standardOf(s)
		for id, v := range one {
			if id == standardSum {
				t.Values[id] += v
			} else {
				t.Values[id] = max(t.Values[id], v)
			}
		}
	}
	if from, ok := t.Events[record.Request]; ok && t.Clock != record.ClockForeign {
		last := int64(0)
		for _, s := range tasks {
			last = max(last, s.Done)
		}
		t.Values[workload.MetricRanksDone] = float64(last - from)
	}
}

// transport records by which way messages went, and says so where native's went
// by another.
func (j *ranked) transport(t *record.Trial, first probe.Payload, seen mpi.Seen, said []place.Output) {
	var errs []byte
	for _, o := range said {
		errs = append(append(errs, o.Stderr...), '\n')
	}
	way := mpi.Transport(errs, seen)
	if first.Report == nil {
		first.Report = map[string]string{}
	}
	first.Report["mpi.transport"] = way
	first.Report["mpi.library"] = seen.Library
	for i, f := range seen.Files {
		if i == 0 {
			first.Report["mpi.library-file"], first.Report["mpi.library-sha256"] = f.Path, f.SHA256
		} else {
			t.Remarks = append(t.Remarks, fmt.Sprintf("not all ranks have loaded the same MPI library: %s and %s", seen.Files[0].Path, f.Path))
			break
		}
	}
	if seen.Nodes > 0 {
		first.Report["mpi.nodes"] = fmt.Sprint(seen.Nodes)
		first.Report["mpi.ranks"] = fmt.Sprint(seen.Ranks)
	}
	j.fillInside(t, j.o, first)
	if way == "" {
		t.Remarks = append(t.Remarks, "by which way its messages went is not known: this MPI library does not tell")
		return
	}
	if other, its := j.otherWay(t.Workload, way); other != "" {
		t.Remarks = append(t.Remarks, fmt.Sprintf("its messages went by %q, and those of %s by %q: what is compared is the transport too", way, other, its))
	}
}

// otherWay notes by which way a workload's messages went here, and gives a
// baseline from which an engine's way differs. Where the baseline comes after the
// engine for the first time, it is the baseline's trial that says so.
func (j *ranked) otherWay(workload, way string) (env, its string) {
	if j.ways[workload] == nil {
		j.ways[workload] = map[string]string{}
	}
	all := j.ways[workload]
	mine := j.o.rec.Baseline != ""
	if mine && all[j.o.rec.ID] == way {
		return "", ""
	}
	all[j.o.rec.ID] = way
	for _, e := range j.session.sorted() {
		if its := all[e.rec.ID]; its != "" && its != way && (e.rec.Baseline != "") != mine {
			return e.rec.ID, its
		}
	}
	return "", ""
}
