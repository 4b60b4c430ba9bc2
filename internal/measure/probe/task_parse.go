package probe

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// ErrTorn is returned where the word came, but not the task's end: the output
// was cut off, or the container died.
var ErrTorn = errors.New("the task's end did not come: the output is cut off")

// errTaskLine is returned where a line bears the word but makes no sense: the
// output was changed or mixed up on its way.
var errTaskLine = errors.New("a line of the task's own can't be read")

// ParseTask reads what a task printed and checks the trial's word. What a
// workload prints can't be taken for the task's own lines: those bear the word,
// and besides a random mark that was printed before the first step began, for
// the word stands in the task's arguments where a workload could read it. With
// ErrTorn and errTaskLine comes what was understood until then, so that a task
// that still runs can be looked at.
//
// The carriage returns of a terminal, where it is one, are taken out of the
// output again.
func ParseTask(out []byte, word string) (Task, error) {
	t := Task{}
	if taskWord(word) != nil {
		return t, ErrNoProof
	}
	rest, terminal, ok := t.first(out, word)
	if !ok {
		return Task{}, ErrNoProof
	}
	if terminal {
		rest = bytes.ReplaceAll(rest, []byte("\r\n"), []byte("\n"))
	}
	before, line, rest, ok := nextLine(rest, []byte("\nplimsoll 1 "+word+" mark "))
	t.Report = reportLines(before)
	if !ok {
		return t, ErrTorn
	}
	if random, err := hex.DecodeString(line); err != nil || len(random) != 16 {
		return t, fmt.Errorf("%w: the mark %.80q", errTaskLine, line)
	}
	mark := []byte("\nplimsoll 1 " + word + "-" + line + " ")
	for {
		before, line, rest, ok = nextLine(rest, mark)
		if t.Done == 0 && len(t.Steps) > 0 {
			t.Output = append(t.Output, before...)
		}
		switch {
		case ok:
			if err := t.line(line); err != nil {
				return t, fmt.Errorf("%w: %.80q", err, line)
			}
		case t.Done == 0:
			return t, ErrTorn
		default:
			return t, nil
		}
	}
}

// first finds the payload's first line, as ParsePayload does, and tells whether
// a terminal has put carriage returns before the line ends.
func (t *Task) first(out []byte, word string) (rest []byte, terminal, ok bool) {
	head := "plimsoll 1 " + word + " first "
	for {
		end := bytes.IndexByte(out, '\n')
		if end < 0 {
			return nil, false, false
		}
		line, terminal := strings.CutSuffix(string(out[:end]), "\r")
		out = out[end+1:]
		if at, found := strings.CutPrefix(line, head); found {
			if t.First, ok = stamp(at); ok {
				return out, terminal, true
			}
		}
	}
}

// nextLine cuts at the next line of the task's own. Where there is none, or its
// end is missing, all is in before.
func nextLine(out, mark []byte) (before []byte, line string, rest []byte, ok bool) {
	at := bytes.Index(out, mark)
	if at < 0 {
		return out, "", nil, false
	}
	body := out[at+len(mark):]
	end := bytes.IndexByte(body, '\n')
	if end < 0 {
		return out[:at], "", nil, false
	}
	return out[:at], string(body[:end]), body[end+1:], true
}

func reportLines(b []byte) map[string]string {
	var report map[string]string
	for _, line := range strings.Split(string(b), "\n") {
		if rest, ok := strings.CutPrefix(line, "k "); ok {
			key, value, _ := strings.Cut(rest, " ")
			if report == nil {
				report = map[string]string{}
			}
			report[key] = unescape(value)
		}
	}
	return report
}

func (t *Task) line(s string) error {
	f := strings.Split(s, " ")
	ok := false
	switch {
	case t.Done != 0: // nothing follows the end
	case f[0] == "step":
		ok = t.step(f)
	case f[0] == "ready" && len(f) == 2:
		t.Ready, ok = stamp(f[1])
	case f[0] == "done" && len(f) == 2:
		t.Done, ok = stamp(f[1])
	case f[0] == "binary" && len(f) == 2:
		sum, err := hex.DecodeString(f[1])
		t.Binary, t.BinaryErrno, ok = f[1], 0, err == nil && len(sum) == 32
		if !ok {
			t.Binary = ""
		}
	case f[0] == "binary" && len(f) == 3 && f[1] == "error":
		n, err := strconv.Atoi(f[2])
		t.Binary, t.BinaryErrno, ok = "", n, err == nil && n > 0
	}
	if !ok {
		return errTaskLine
	}
	return nil
}

var taskKinds = []TaskKind{TaskPrepare, TaskServe, TaskPort, TaskFile, TaskMain, TaskStay, TaskCleanup}

// endFields are the names in a step's last line, and where their numbers go.
func (r *TaskResult) endFields() (names []string, to []*int64) {
	return []string{"spawn", "user", "system", "rss", "switches"},
		[]*int64{&r.Begin, &r.UserNS, &r.SystemNS, &r.MaxRSS, &r.Voluntary}
}

// step reads "step I begin TS KIND" and "step I end TS status S errno E spawn
// TS user NS system NS rss BYTES switches V I".
func (t *Task) step(f []string) bool {
	if len(f) < 4 {
		return false
	}
	i, err := strconv.Atoi(f[1])
	at, ok := stamp(f[3])
	if err != nil || !ok || i < 0 || i >= maxTaskSteps {
		return false
	}
	known := slices.IndexFunc(t.Steps, func(r TaskResult) bool { return r.Index == i })
	switch f[2] {
	case "begin":
		if len(f) != 5 || known >= 0 || !slices.Contains(taskKinds, TaskKind(f[4])) {
			return false
		}
		t.Steps = append(t.Steps, TaskResult{Index: i, Kind: TaskKind(f[4]), Begin: at})
		return true
	case "end":
		if known < 0 || t.Steps[known].End != 0 {
			return false
		}
		r := t.Steps[known]
		if !r.end(f[4:]) || r.Begin <= 0 || r.Begin > at {
			return false
		}
		r.End = at
		t.Steps[known] = r
		return true
	}
	return false
}

func (r *TaskResult) end(f []string) bool {
	names, to := r.endFields()
	if len(f) != 4+2*len(names)+1 || f[0] != "status" || f[2] != "errno" {
		return false
	}
	var e1, e2, e3 error
	r.Status, e1 = strconv.Atoi(f[1])
	r.Errno, e2 = strconv.Atoi(f[3])
	r.Involuntary, e3 = strconv.ParseInt(f[len(f)-1], 10, 64)
	if e1 != nil || e2 != nil || e3 != nil || r.Status < -1 || r.Status > 255 || r.Errno < 0 || r.Involuntary < 0 {
		return false
	}
	for k, name := range names {
		v, err := strconv.ParseInt(f[5+2*k], 10, 64)
		if f[4+2*k] != name || err != nil || v < 0 {
			return false
		}
		*to[k] = v
	}
	return true
}
