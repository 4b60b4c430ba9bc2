//go:build linux

package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"plimsoll/internal/run"
)

// newProgress chooses how the course of a run is shown on standard error.
func newProgress(w World, kind string) run.Progress {
	if kind == "auto" {
		kind = "plain"
		if w.ErrTerminal && w.Getenv("TERM") != "dumb" && w.Getenv("CI") == "" {
			kind = "bar"
		}
	}
	switch kind {
	case "bar":
		return &bar{out: w.Stderr}
	case "json":
		return &jsonLines{enc: json.NewEncoder(w.Stderr)}
	case "none":
		return run.NoProgress{}
	}
	return &plain{out: w.Stderr}
}

// every is how often the display changes at the most: often enough to be
// followed, seldom enough to cost nothing.
const (
	everyBar   = 100 * time.Millisecond
	everyPlain = 5 * time.Second
)

// bar is one line that is drawn anew between trials. It has no ticker of its
// own: nothing of it runs while a trial is timed.
type bar struct {
	out  io.Writer
	last time.Time
	wide int
}

func (b *bar) Step(text string) { b.line("  " + text + " …") }

func (b *bar) Planned(total, done int) {
	if done > 0 {
		b.Remark(fmt.Sprintf("resuming: %d of %d trials are there already", done, total))
	}
}

func (b *bar) Trial(t run.Upcoming) {
	if time.Since(b.last) < everyBar {
		return
	}
	b.last = time.Now()
	const width = 24
	n := 0
	if t.Total > 0 {
		n = width * t.Done / t.Total
	}
	b.line(fmt.Sprintf("  %s%s %s", strings.Repeat("█", n), strings.Repeat("░", width-n), describe(t)))
}

func (b *bar) Remark(text string) {
	b.End()
	fmt.Fprintln(b.out, "  "+text)
}

func (b *bar) End() {
	if b.wide > 0 {
		fmt.Fprint(b.out, "\r\x1b[K")
		b.wide = 0
	}
}

func (b *bar) line(s string) {
	fmt.Fprint(b.out, "\r\x1b[K"+s)
	b.wide = len(s)
}

// plain is a line every few seconds, for logs.
type plain struct {
	out  io.Writer
	last time.Time
}

func (p *plain) Step(text string)   { fmt.Fprintln(p.out, text) }
func (p *plain) Remark(text string) { fmt.Fprintln(p.out, text) }
func (p *plain) End()               {}
func (p *plain) Planned(total, done int) {
	p.last = time.Now()
	if done > 0 {
		fmt.Fprintf(p.out, "%d trials, %d of them are there already\n", total, done)
		return
	}
	fmt.Fprintf(p.out, "%d trials\n", total)
}

func (p *plain) Trial(t run.Upcoming) {
	if time.Since(p.last) < everyPlain {
		return
	}
	p.last = time.Now()
	fmt.Fprintln(p.out, describe(t))
}

// jsonLines is one object a line, for programs.
type jsonLines struct {
	enc  *json.Encoder
	last time.Time
}

type progressLine struct {
	Event string        `json:"event"`
	Text  string        `json:"text,omitempty"`
	Total int           `json:"total,omitempty"`
	Done  int           `json:"done,omitempty"`
	Trial *run.Upcoming `json:"trial,omitempty"`
}

func (j *jsonLines) say(l progressLine) { _ = j.enc.Encode(l) } // progress that can't be written is no reason to stop
func (j *jsonLines) Step(text string)   { j.say(progressLine{Event: "step", Text: text}) }
func (j *jsonLines) Remark(text string) { j.say(progressLine{Event: "remark", Text: text}) }
func (j *jsonLines) End()               { j.say(progressLine{Event: "end"}) }
func (j *jsonLines) Planned(total, done int) {
	j.say(progressLine{Event: "planned", Total: total, Done: done})
}

func (j *jsonLines) Trial(t run.Upcoming) {
	if time.Since(j.last) < everyBar {
		return
	}
	j.last = time.Now()
	j.say(progressLine{Event: "trial", Trial: &t})
}

// describe says in one line what runs now and how long it will take yet.
func describe(t run.Upcoming) string {
	s := fmt.Sprintf("%d/%d", t.Done, t.Total)
	most := ""
	if t.AtMost {
		s, most = fmt.Sprintf("%d of at most %d", t.Done, t.Total), "at most "
	}
	if t.Failed > 0 {
		s += fmt.Sprintf(", %d failed", t.Failed)
	}
	if t.Left > 0 {
		s += ", " + most + left(t.Left) + " left"
	}
	what := t.Env
	if t.Workload != "hello" {
		what += " " + t.Workload
	}
	if t.Warmup {
		return s + ", warming up: " + what
	}
	return fmt.Sprintf("%s, block %d of %s%d: %s", s, t.Block, most, t.Blocks, what)
}

// left rounds a time so that it does not pretend.
func left(d time.Duration) string {
	switch {
	case d < 90*time.Second:
		return fmt.Sprintf("%d s", int(d.Seconds()+1))
	case d < 90*time.Minute:
		return fmt.Sprintf("%d min", int(d.Minutes()+1))
	}
	return fmt.Sprintf("%d h", int(d.Hours()+1))
}
