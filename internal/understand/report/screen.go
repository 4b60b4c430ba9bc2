package report

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"plimsoll/internal/common/harmless"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/document"
	"plimsoll/internal/understand/verdict"
	"plimsoll/internal/understand/words"
)

// Screen is what one screen of a terminal is made with.
type Screen struct {
	// Record is the run's directory as a user types it, Page the file of its page;
	// "" where there is none.
	Record, Page string
}

// errNoScreen says that a result has more to say than a screen can.
var errNoScreen = errors.New("no screen")

// hasScreen says whether a result is for a screen: a run that took an engine or the
// kernel apart is about that.
func hasScreen(res *analyze.Result) bool {
	return len(res.Ablations) == 0 && len(res.Charges) == 0 && len(res.Steadiness) == 0
}

// writeScreen writes the answer of a result on one screen: a headline, who is
// fastest and by how much, what to doubt, one table, and where the rest is.
func writeScreen(w io.Writer, res *analyze.Result, opts Options) error {
	if !hasScreen(res) {
		return errNoScreen
	}
	answers := verdict.Answers(res, opts.Metric)
	if len(answers) == 0 {
		return errNoScreen
	}
	return in(document.Text, func(d *document.Document, res *analyze.Result, opts Options) {
		s := screen{Document: d, res: res, opts: opts, answers: answers, more: "--full", audit: "--audit"}
		if len(answers) == 1 {
			s.one(&answers[0])
		} else {
			s.many()
		}
		s.rest()
	})(w, res, opts)
}

// screen fills a document.
type screen struct {
	*document.Document
	res     *analyze.Result
	opts    Options
	answers []verdict.Answer
	// more and audit are where the rest stands, and on what terms all ran.
	more, audit string
	// indent is how far what follows a label is indented; 0 is labelled.
	indent int
	// lacking is how the table says what isolation each lacks.
	lacking lackForm
}

// labelled is how far what follows a label is indented.
const labelled = 12

// below is how far what follows a label below the table is indented.
const below = 14

// says writes a line behind a label, cut where the terminal ends.
func (s *screen) says(label, text string, tone document.Tone) {
	s.tells(label, words.Cut(text, s.room()), tone)
}

// tells writes a line behind a label that goes on below where it has no room: what is
// only half said would mislead.
func (s *screen) tells(label, text string, tone document.Tone) {
	if text != "" {
		s.Led(s.label(label), text, tone)
	}
}

// label is one with the space behind it.
func (s *screen) label(text string) string {
	return "  " + document.Pad(text, cmp.Or(s.indent, labelled)-2, false)
}

// room is how many characters a line behind a label has.
func (s *screen) room() int { return s.Width - cmp.Or(s.indent, labelled) }

// fits lists what has room on a line behind a label, beside so many characters, and
// counts what has not. shown is how many it lists, at least one, which is cut where
// it has no room beside the count.
func (s *screen) fits(parts []string, between, more string, beside int) (text string, shown int) {
	room := s.room() - beside
	for n := len(parts); n > 0; n-- {
		if text = listed(parts, n, between, more); words.Width(text) <= room {
			return text, n
		}
	}
	if len(parts) == 0 {
		return "", 0
	}
	rest := strings.TrimPrefix(text, parts[0])
	return words.Cut(parts[0], max(1, room-words.Width(rest))) + rest, 1
}

// listed lists the first n, and counts the others.
func listed(parts []string, n int, between, more string) string {
	text := strings.Join(parts[:n], between)
	if n < len(parts) {
		text += fmt.Sprintf(more, len(parts)-n)
	}
	return text
}

// headline says what was measured, how often, how long and on what.
func (s *screen) headline(about string) {
	run := s.res.Run
	parts := []string{words.Clean(run.Study), about, blocksOf(run)}
	switch {
	case run.Protocol.Blocks == run.Blocks || run.Status == "done":
		parts[2] = words.Plural(run.Blocks, "block")
	case run.Blocks < run.Protocol.Blocks && !run.Protocol.Open() && run.Gate == nil:
		parts[2] = fmt.Sprintf("%d of %s", run.Blocks, parts[2])
	}
	if d := run.Finished.Sub(run.Started); !run.Finished.IsZero() && d > 0 {
		parts[2] += " in " + roughly(d)
	}
	if n := run.Host.CPUs; n > 0 {
		parts = append(parts, words.Plural(n, "CPU"))
	}
	s.Add(document.Para{Text: document.Say(strings.Join(parts, " · ")), Tone: document.Head}, document.Gap{})
}

// one is the screen of one workload.
func (s *screen) one(a *verdict.Answer) {
	t := s.table(a)
	s.lacking = t.lacks
	s.answer(a)
	s.doubts(a)
	s.Add(document.Gap{}, t.Table, document.Gap{})
	s.indent = below
	s.tells("Legend", s.legend(a, t), document.Dim)
}

// answer is the headline, who is first, and how the others follow.
func (s *screen) answer(a *verdict.Answer) {
	m := a.Table.Metric
	work := words.Clean(cmp.Or(a.Work.Title, a.Work.ID))
	s.headline(fmt.Sprintf("%s of %s, %s", words.Clean(cmp.Or(m.Title, m.ID)), work, words.Better(m)))
	s.leaders(a)
	s.followers(a)
}

// doubts are whether the same was done everywhere, and what to beware of; nil is of
// several workloads.
func (s *screen) doubts(a *verdict.Answer) {
	s.checks()
	s.tells("Beware", s.beware(a), document.Warn)
}

// leaders is the line about the best.
func (s *screen) leaders(a *verdict.Answer) {
	label := "Best"
	if a.Fast() {
		label = "Fastest"
	}
	if len(a.All) == 1 {
		s.says("Alone", s.with(a, a.All[0], true)+": nothing to compare it with", document.Head)
		return
	}
	if len(a.First) == 1 {
		text := s.with(a, a.First[0], true)
		if words.Width(text) > s.room() { // half an interval says nothing
			text = s.with(a, a.First[0], false)
		}
		s.says(label, text, document.Head)
		return
	}
	note := " (cannot be told apart yet)"
	if a.Same {
		note = fmt.Sprintf(" (equal within %.3g %%)", 100*s.res.Run.Delta)
	}
	beside := words.Width(note)
	text, shown := s.fits(s.byName(a), ", ", " and %d more", beside)
	if shown < min(3, len(a.First)) { // whole names leave no room for others
		text, _ = s.fits(s.byEngine(a), ", ", " and %d more", beside)
	}
	s.says(label, text+note, document.Head)
	if a.Needed > 0 {
		s.says("", fmt.Sprintf("about %d blocks would tell the first two apart", a.Needed), document.Plain)
	}
}

// byName are the first ones with their medians.
func (s *screen) byName(a *verdict.Answer) (names []string) {
	for _, e := range a.First {
		names = append(names, s.with(a, e, false))
	}
	return names
}

// byEngine are the engines of the first ones, each with the median of its best.
func (s *screen) byEngine(a *verdict.Answer) (names []string) {
	seen := map[string]bool{}
	for _, e := range a.First {
		if n := s.engine(e); !seen[n] {
			seen[n] = true
			names = append(names, n+strings.TrimPrefix(s.with(a, e, false), words.Clean(e)))
		}
	}
	return names
}

// engine is that of an environment.
func (s *screen) engine(env string) string {
	if e := s.res.Environment(env); e != nil && e.Engine != "" {
		return words.Clean(e.Engine)
	}
	return words.Clean(env)
}

// followers are the lines about the next, and about the last.
func (s *screen) followers(a *verdict.Answer) {
	if a.Next == "" {
		return
	}
	behind := func(label, env string, others ...string) {
		text := ""
		// Whole names where there is room, then the first one's, then the engines', and less.
		for _, short := range []int{0, 1, 2, 3, 4, 5} {
			lead := ": "
			if short > 3 {
				others = others[:1]
			}
			text = s.with(a, env, short < 3)
			said := map[string]bool{} // two environments may have one engine's name
			for i, o := range others {
				of := words.Clean(o)
				if short > 1 || short == 1 && i > 0 {
					of = s.engine(o)
				}
				if o == a.First[0] && (of == s.engine(env) || short > 4) { // its own engine's name would say nothing
					of = "the first"
				}
				if p := a.Behind(env, o); p != nil && o != env && !said[of] {
					if lead == ": " {
						worse := words.Worse(a.Table.Metric, p.Value, of)
						if short > 4 {
							worse = strings.TrimPrefix(worse, "takes ")
						}
						text += lead + worse
					} else {
						text += lead + words.Factor(p.Value) + " × " + of
					}
					lead, said[of] = ", ", true
				}
			}
			if words.Width(text) <= s.room() {
				break
			}
		}
		s.tells(label, text, document.Plain)
	}
	behind("Next", a.Next, a.First[0])
	if e := s.isolated(a); e != "" {
		behind("Isolated", e, a.First[0])
	} else if other := s.other(a); other != "" {
		behind("Then", other, a.First[0])
	}
	s.acquaintance(a)
	if last := a.All[len(a.All)-1]; last != a.Next {
		label := "Last"
		if a.Fast() {
			label = "Slowest"
		}
		behind(label, last, a.First[0], a.Next)
	}
}

// other is the best environment of another engine than the first two, where these have
// the same; "" where it is the last.
func (s *screen) other(a *verdict.Answer) string {
	first := s.engine(a.First[0])
	if s.engine(a.Next) != first || len(a.First) > 1 {
		return ""
	}
	for _, e := range a.All[:len(a.All)-1] {
		if s.engine(e) != first {
			return e
		}
	}
	return ""
}

// with is an environment with its median.
func (s *screen) with(a *verdict.Answer, env string, interval bool) string {
	unit := a.Table.Metric.Unit
	if unit == "count" {
		unit = ""
	}
	v := words.Estimate(*a.Table.Cell(env).Median, unit)
	if !interval {
		v, _, _ = strings.Cut(v, " [")
	}
	return words.Clean(env) + " " + v
}

// rest says what could not run, and where all that has no room stands.
func (s *screen) rest() {
	s.indent = below
	s.notRun()
	if f := s.res.Findings; f != nil {
		s.command("Claims", "plimsoll findings "+s.record())
	}
	s.command("All tables", "plimsoll report "+s.record()+" --full")
	s.command("Isolation", "plimsoll report "+s.record()+" --audit")
	s.command("Web page", harmless.Text(s.opts.Screen.Page))
	s.command("Run again", words.Command(s.res.Run.Repeat))
}

// notRun is the line about what could not run.
func (s *screen) notRun() {
	var not []string
	for _, x := range s.res.Excluded {
		name := words.Clean(x.ID)
		if x.Workload != "" {
			name = words.Clean(x.Engine) + " with " + words.Clean(x.Workload)
		}
		if !slices.Contains(not, name) {
			not = append(not, name)
		}
	}
	if len(not) > 0 {
		why := " (why: " + s.more + ")"
		text, _ := s.fits(not, ", ", " and %d more", len(why))
		s.says("Not run", text+why, document.Plain)
	}
}

// command writes what is to be pasted, with nothing else behind its label.
func (s *screen) command(label, text string) {
	if text != "" {
		s.Add(document.Para{Text: document.Say(text), Lead: s.label(label), Tone: document.Dim, Command: true})
	}
}

func (s *screen) record() string { return harmless.ShellWord(harmless.Text(s.opts.Screen.Record)) }
