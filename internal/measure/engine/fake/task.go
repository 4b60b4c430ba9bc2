package fake

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/measure/probe"
)

// task is the probe's verb task. Of the programs of its main steps a fake
// knows a few, and one of its own, simulate, which prints a modelled result:
// of each argument NAME=MEDIAN a line "NAME VALUE" whose value grows with the
// time that the environment's work takes, and of NAME~MEDIAN one that falls.
type task struct{ probe.TaskArgs }

// mark stands where a real task has random digits: nobody forges a fake's lines.
const mark = "00112233445566778899aabbccddeeff"

// mainFor is how much longer a main step takes than another one.
const mainFor = 50

func (k task) stays() bool {
	return slices.ContainsFunc(k.Steps, func(s probe.TaskStep) bool { return s.Kind == probe.TaskStay })
}

func (k task) ignores() bool  { return false }
func (k task) touches() int64 { return 0 }

// status is that of the first step that fails.
func (k task) status() int {
	for _, s := range k.Steps {
		if got, _ := outcome(s); got != s.Status {
			if got < 0 {
				return 127
			}
			return max(got, 1)
		}
	}
	return 0
}

func (k task) lasts(work time.Duration) (sum time.Duration) {
	for _, s := range k.Steps {
		sum += takes(s, work)
	}
	return sum
}

func takes(s probe.TaskStep, work time.Duration) time.Duration {
	if s.Kind == probe.TaskMain {
		return mainFor * work
	}
	return work
}

// outcome is a step's exit status, -1 with an error number where there is no
// such program.
func outcome(s probe.TaskStep) (status, errno int) {
	if s.Kind != probe.TaskMain {
		return s.Status, 0
	}
	switch path.Base(s.Argv[0]) {
	case "simulate", "echo", "true", "sleep":
		return 0, 0
	case "false":
		return 1, 0
	}
	return -1, 2 // ENOENT
}

func (k task) line(b *strings.Builder, format string, args ...any) {
	fmt.Fprintf(b, "\nplimsoll 1 %s-%s %s\n", k.Word, mark, fmt.Sprintf(format, args...))
}

func (k task) begin(t *trial, first int64) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "plimsoll 1 %s first %d\n", k.Word, t.inside(first))
	if k.Report {
		seen := report()
		for _, key := range slices.Sorted(maps.Keys(seen)) {
			fmt.Fprintf(&b, "k %s %s\n", key, seen[key])
		}
	}
	fmt.Fprintf(&b, "\nplimsoll 1 %s mark %s\n", k.Word, mark)
	at := first
	for i, s := range k.Steps {
		if s.Kind == probe.TaskStay {
			t.clock.pass(time.Duration(at - first))
			k.line(&b, "step %d begin %d stay", i, t.inside(at))
			k.line(&b, "ready %d", t.inside(at))
			break
		}
		if !k.step(&b, t, i, s, &at) {
			break
		}
	}
	return []byte(b.String())
}

// step is one step's lines; false where it failed.
func (k task) step(b *strings.Builder, t *trial, i int, s probe.TaskStep, at *int64) bool {
	took := int64(takes(s, t.times[Work]))
	status, errno := outcome(s)
	k.line(b, "step %d begin %d %s", i, t.inside(*at), s.Kind)
	if s.Kind == probe.TaskMain && s.Output == "" {
		b.WriteString(prints(s.Argv, t.times[Work]))
	}
	k.line(b, "step %d end %d status %d errno %d spawn %d user %d system %d rss %d switches 1 0",
		i, t.inside(*at+took), status, errno, t.inside(*at), took*3/4, took/8, 8<<20)
	*at += took
	return status == s.Status
}

// prints is what a main step's program says.
func prints(argv []string, work time.Duration) string {
	var b strings.Builder
	switch path.Base(argv[0]) {
	case "echo":
		b.WriteString(strings.Join(argv[1:], " ") + "\n")
	case "simulate":
		m := Medium()
		slower := float64(work) / float64(m.Phases[Work].Median)
		for _, a := range argv[1:] {
			i := strings.IndexAny(a, "=~")
			if i < 0 {
				continue
			}
			v, err := strconv.ParseFloat(a[i+1:], 64)
			if err != nil {
				continue
			}
			if a[i] == '~' {
				v /= slower
			} else {
				v *= slower
			}
			fmt.Fprintf(&b, "%s %g\n", a[:i], v)
		}
	}
	return b.String()
}

func (k task) finish(t *trial, done int64) []byte {
	var b strings.Builder
	for i, s := range k.Steps {
		if s.Kind == probe.TaskStay {
			k.line(&b, "step %d end %d status 0 errno 0 spawn %d user 0 system 0 rss 0 switches 0 0", i, t.inside(done), t.inside(done))
		}
	}
	if k.Hash && slices.ContainsFunc(k.Steps, func(s probe.TaskStep) bool { return s.Kind == probe.TaskMain }) {
		k.line(&b, "binary %064x", 1)
	}
	k.line(&b, "done %d", t.inside(done))
	return []byte(b.String())
}

// parseTask undoes probe.TaskArgs.Argv.
func parseTask(argv []string) (k probe.TaskArgs, ok bool) {
	k.Word = argv[2]
	r := words{argv[3:], true}
	for r.ok && len(r.left) > 0 {
		switch w := r.next(); w {
		case "--report":
			k.Report = true
		case "--hash":
			k.Hash = true
		case "--dir":
			k.Dir = r.next()
		default:
			k.Steps = append(k.Steps, r.step(probe.TaskKind(w)))
		}
	}
	return k, r.ok && len(k.Steps) > 0
}

// words are arguments that are read one after the other.
type words struct {
	left []string
	ok   bool
}

func (r *words) next() string {
	if len(r.left) == 0 {
		r.ok = false
		return ""
	}
	w := r.left[0]
	r.left = r.left[1:]
	return w
}

func (r *words) number() int {
	n, err := strconv.Atoi(r.next())
	r.ok = r.ok && err == nil && n >= 0
	return n
}

func (r *words) step(kind probe.TaskKind) probe.TaskStep {
	s := probe.TaskStep{Kind: kind}
	switch kind {
	case probe.TaskPort:
		s.Port = r.number()
		return s
	case probe.TaskFile:
		s.File = r.next()
		return s
	case probe.TaskStay:
		return s
	case probe.TaskPrepare, probe.TaskServe, probe.TaskMain, probe.TaskCleanup:
	default:
		r.ok = false
		return s
	}
	for r.ok && len(r.left) > 0 && strings.HasPrefix(r.left[0], "--") {
		switch r.next() {
		case "--status":
			s.Status = r.number()
		case "--output":
			s.Output = r.next()
		case "--input":
			s.Input = r.next()
		default:
			r.ok = false
		}
	}
	n := r.number()
	if !r.ok || n < 1 || n > len(r.left) {
		r.ok = false
		return s
	}
	s.Argv, r.left = r.left[:n], r.left[n:]
	return s
}
