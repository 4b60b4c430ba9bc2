//go:build linux

package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"plimsoll/internal/measure/run"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/words"
)

// newProgress chooses how the course of a run is shown on standard error.
func newProgress(w World, kind string) run.Progress {
	if kind == "auto" {
		kind = "plain"
		if barHere(w) {
			kind = "bar"
		}
	}
	switch kind {
	case "bar":
		return &bar{out: w.Stderr, width: w.errWidth(), ascii: !unicodeHere(w)}
	case "json":
		return &jsonLines{enc: json.NewEncoder(w.Stderr)}
	case "none":
		return run.NoProgress{}
	}
	return &plain{out: w.Stderr}
}

// barHere says whether standard error is a place for a line that is drawn anew.
func barHere(w World) bool {
	return w.ErrTerminal && w.Getenv("TERM") != "dumb" && w.Getenv("CI") == ""
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
	out    io.Writer
	width  func() int // of the terminal, which may change
	ascii  bool
	last   time.Time
	shown  bool
	failed failures
	own    float64
}

func (b *bar) Step(text string) { b.line("  " + words.Clean(text) + " …") }

func (b *bar) Planned(total, done int, atMost bool) {
	if done > 0 {
		b.Remark("resuming: " + doneOf(total, done, atMost) + " are there already")
	}
}

func (b *bar) Trial(t run.Upcoming) {
	b.own = t.Own
	if time.Since(b.last) < everyBar {
		return
	}
	b.last = time.Now()
	b.line(barLine(t, b.width()))
}

// barLine fits into a terminal: first the bar becomes short, then our own share
// goes, then the bar, and at last the end of what runs.
func barLine(t run.Upcoming, width int) string {
	text := words.Clean(describe(t))
	for _, more := range []string{ownText(t.Own, "; plimsoll itself: "), ""} {
		for _, cells := range []int{24, 10} {
			n := 0
			if t.Total > 0 {
				n = cells * t.Done / t.Total
			}
			s := "  " + strings.Repeat("█", n) + strings.Repeat("░", cells-n) + " " + text + more
			if utf8.RuneCountInString(s) < width {
				return s
			}
		}
	}
	return text
}

func (b *bar) Failed(f run.Failed) {
	if s := b.failed.line(f); s != "" {
		b.Remark(s)
	}
}

func (b *bar) Remark(text string) {
	b.clear()
	fmt.Fprintln(b.out, b.plain("  "+words.Prose(text)))
}

func (b *bar) End() {
	b.clear()
	if s := ownText(b.own, "  plimsoll itself: "); s != "" {
		fmt.Fprintln(b.out, s)
	}
	b.own = 0
}

func (b *bar) clear() {
	if b.shown {
		fmt.Fprint(b.out, "\r\x1b[K")
		b.shown = false
	}
}

// line never reaches the last column: a line that is broken by the terminal
// cannot be taken away again.
func (b *bar) line(s string) {
	if r := []rune(s); len(r) >= b.width() {
		s = string(r[:max(1, b.width()-2)]) + "…"
	}
	fmt.Fprint(b.out, "\r\x1b[K"+b.plain(s))
	b.shown = true
}

func (b *bar) plain(s string) string { return barText(s, b.ascii) }

func barText(s string, ascii bool) string {
	if ascii {
		return words.ASCII(strings.NewReplacer("█", "#", "░", ".").Replace(s))
	}
	return s
}

// plain is a line every few seconds, for logs.
type plain struct {
	out    io.Writer
	last   time.Time
	failed failures
	own    float64
}

func (p *plain) Step(text string)   { fmt.Fprintln(p.out, words.Prose(text)) }
func (p *plain) Remark(text string) { fmt.Fprintln(p.out, words.Prose(text)) }
func (p *plain) Planned(total, done int, atMost bool) {
	p.last = time.Now()
	switch {
	case done > 0:
		fmt.Fprintln(p.out, "resuming: "+doneOf(total, done, atMost)+" are there already")
	case total > 0 && atMost:
		fmt.Fprintf(p.out, "at most %s\n", words.Plural(total, "trial"))
	case total > 0:
		fmt.Fprintln(p.out, words.Plural(total, "trial"))
	}
}

// doneOf says how many trials there are, of how many where that is known.
func doneOf(total, done int, atMost bool) string {
	switch {
	case total == 0:
		return words.Plural(done, "trial")
	case atMost:
		return fmt.Sprintf("%d of at most %s", done, words.Plural(total, "trial"))
	}
	return fmt.Sprintf("%d of %s", done, words.Plural(total, "trial"))
}

func (p *plain) Trial(t run.Upcoming) {
	p.own = t.Own
	if time.Since(p.last) < everyPlain {
		return
	}
	p.last = time.Now()
	fmt.Fprintln(p.out, words.Clean(describe(t)))
}

func (p *plain) Failed(f run.Failed) {
	if s := p.failed.line(f); s != "" {
		fmt.Fprintln(p.out, s)
	}
}

func (p *plain) End() {
	if s := ownText(p.own, "plimsoll itself: "); s != "" {
		fmt.Fprintln(p.out, s)
	}
	p.own = 0
}

// ownText says what of a processor the program itself has used.
func ownText(share float64, lead string) string {
	if share <= 0 {
		return ""
	}
	return fmt.Sprintf("%s%.2g %% CPU", lead, 100*share)
}

// failures bounds the lines about trials that failed: of one kind the first
// few, and not many in all.
type failures struct {
	kinds map[string]int
	lines int
}

const (
	mostOfKind   = 3
	mostFailures = 30
)

// line says what failed, where and how; "" where enough was said.
func (f *failures) line(x run.Failed) string {
	if x.Untried {
		return ""
	}
	kind := x.Env + "\x00" + string(x.Class)
	if f.kinds == nil {
		f.kinds = map[string]int{}
	}
	f.kinds[kind]++
	n := f.kinds[kind]
	if n > mostOfKind || f.lines >= mostFailures {
		return ""
	}
	f.lines++
	more := ""
	switch {
	case f.lines == mostFailures:
		more = " (further failures are only counted)"
	case n == mostOfKind:
		more = " (further ones of this kind are only counted)"
	}
	what := words.Clean(x.Env)
	if x.Workload != "hello" {
		what += " " + words.Clean(x.Workload)
	}
	if x.Class == record.Unsupported {
		return fmt.Sprintf("unsupported: %s: %s%s", what, words.Clean(x.Text), more)
	}
	return fmt.Sprintf("failed: %s: %s: %s%s", what, x.Class, words.Clean(x.Text), more)
}

// jsonLines is one object a line, for programs.
type jsonLines struct {
	enc  *json.Encoder
	last time.Time
}

type progressLine struct {
	Event  string        `json:"event"`
	Text   string        `json:"text,omitempty"`
	Total  int           `json:"total,omitempty"`
	Done   int           `json:"done,omitempty"`
	Trial  *run.Upcoming `json:"trial,omitempty"`
	Failed *run.Failed   `json:"failed,omitempty"`
}

func (j *jsonLines) say(l progressLine) { _ = j.enc.Encode(l) } // progress that can't be written is no reason to stop
func (j *jsonLines) Step(text string)   { j.say(progressLine{Event: "step", Text: text}) }
func (j *jsonLines) Remark(text string) { j.say(progressLine{Event: "remark", Text: text}) }
func (j *jsonLines) End()               { j.say(progressLine{Event: "end"}) }
func (j *jsonLines) Planned(total, done int, _ bool) {
	j.say(progressLine{Event: "planned", Total: total, Done: done})
}

func (j *jsonLines) Failed(f run.Failed) {
	f.Text = words.Clean(f.Text)
	j.say(progressLine{Event: "failed", Failed: &f})
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
	switch {
	case t.Total == 0:
		s, most = words.Plural(t.Done, "trial"), "at most "
	case t.AtMost:
		s, most = fmt.Sprintf("%d of at most %d", t.Done, t.Total), "at most "
	}
	if t.Unsupported > 0 {
		s += fmt.Sprintf(", %d unsupported", t.Unsupported)
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
	if t.Blocks == 0 {
		return fmt.Sprintf("%s, block %d: %s", s, t.Block, what)
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
