package report

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"plimsoll/internal/common/harmless"
	"plimsoll/internal/common/lists"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/sample"
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
	// whole: there is room for all that is to be doubted.
	whole bool
	// lacking is how the table says what isolation each lacks.
	lacking lackForm
	// audited: rows and Beware say who isolates less, and where more stands.
	audited bool
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
	if run.Protocol.Tuned { // not the machine that users have
		parts[0] += ", tuned"
	}
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
	s.Add(document.Para{Text: document.Say(strings.Join(parts, " · ")), Tone: document.Head})
}

// one is the screen of one workload.
func (s *screen) one(a *verdict.Answer) {
	t := s.table(a)
	s.lacking = t.lacks
	s.audited = t.lacks != unsaid && s.lessIsolated(a) != ""
	s.answer(a)
	s.Add(document.Gap{}, t.Table, document.Gap{})
	s.indent = below
	s.Led("  ", s.legend(a, t), document.Dim)
}

// answer is the headline, who is first, how the two that most know stand, what speaks
// against it, and how the others follow. Who knows neither of the first looks for those
// two, and a telephone shows three lines.
func (s *screen) answer(a *verdict.Answer) {
	m := a.Table.Metric
	work := words.Clean(cmp.Or(a.Work.Title, a.Work.ID))
	what := words.Better(m)
	if m.From == record.Request && m.To == record.Ready && a.Fast() {
		what = "request to first byte" // what is fastest has the lowest
	}
	s.headline(fmt.Sprintf("%s of %s, %s", words.Clean(cmp.Or(m.Title, m.ID)), work, what))
	if len(a.Table.Cells) < 24 { // else the rows need the line
		s.Add(document.Gap{})
	}
	s.leaders(a)
	s.failedChecks()
	known := s.acquaintance(a)
	s.doubts(a)
	s.followers(a, known)
	s.checks()
}

// doubts is the line of what to beware of; nil is of several workloads.
func (s *screen) doubts(a *verdict.Answer) {
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
		s.says("", fmt.Sprintf("about %d blocks in all would tell the first two apart", a.Needed), document.Plain)
	}
}

// byName are the first ones with their medians.
func (s *screen) byName(a *verdict.Answer) []string {
	return lists.Map(a.First, func(e string) string { return s.with(a, e, false) })
}

// byEngine are the engines of the first ones, each with the median of its best.
func (s *screen) byEngine(a *verdict.Answer) (names []string) {
	seen := map[string]bool{}
	for _, e := range a.First {
		if n := s.engine(e); !seen[n] {
			seen[n] = true
			names = append(names, n+" "+s.median(a, e, false))
		}
	}
	if len(names) == 1 && len(a.First) > 1 { // told apart from what, else
		names[0] += fmt.Sprintf(", %d environments", len(a.First))
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

// followers are the lines about the next, about the best one that isolates as usual, and
// about the last where these and the one about those that most know, if there is one,
// leave room for it: it is also where the table ends.
func (s *screen) followers(a *verdict.Answer, known bool) {
	if a.Next == "" {
		return
	}
	room := len(s.Blocks) + 3
	if known {
		room--
	}
	s.behind(a, "Next", a.Next)
	if e := s.isolated(a); e != "" {
		s.isolation(a, e)
	} else if other := s.other(a); other != "" {
		s.behind(a, "Then", other)
	}
	if last := a.All[len(a.All)-1]; last != a.Next && len(s.Blocks) < room {
		label := "Last"
		if a.Fast() {
			label = "Slowest"
		}
		s.behind(a, label, last)
	}
}

// behind is a line that holds an environment against the first, in the longest words
// that there is room for. notes say why it is named, the longest first.
func (s *screen) behind(a *verdict.Answer, label, env string, notes ...string) {
	than := s.engine(a.First[0])
	if than == s.engine(env) { // its own engine's name would say nothing
		than = theFirst
	}
	if len(notes) == 0 {
		notes = []string{""}
	}
	text := s.with(a, env, false)
	if p := a.Behind(env, a.First[0]); p == nil {
		text += notes[0]
	} else {
		text = s.fitting(func(yield func(string) bool) {
			for _, w := range worded {
				for _, note := range notes {
					if !yield(text + note + ": " + w.worse(a.Table.Metric, p.Estimate, than)) {
						return
					}
				}
			}
		})
	}
	s.tells(label, text, document.Plain)
}

// fitting is the first of some texts that has room on a line, else the last.
func (s *screen) fitting(texts iter.Seq[string]) (text string) {
	for text = range texts {
		if words.Width(text) <= s.room() {
			break
		}
	}
	return text
}

// theFirst is what the first one is called where its name has no room.
const theFirst = "the first"

// wording is what a comparison contains besides its factor.
type wording struct{ interval, than bool }

// worded are the wordings from the longest to the shortest: an interval is worth more
// than a name that stands above.
var worded = []wording{{true, true}, {true, false}, {false, true}, {false, false}}

// worse says how many times worse something is than another.
func (w wording) worse(m record.Metric, by sample.Estimate, than string) string {
	if !w.interval {
		by.Lo, by.Hi = nil, nil
	}
	if !w.than {
		than = ""
	}
	return words.Worse(m, by, than)
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
	return words.Clean(env) + " " + s.median(a, env, interval)
}

// median is that of an environment.
func (s *screen) median(a *verdict.Answer, env string, interval bool) string {
	unit := a.Table.Metric.Unit
	if unit == "count" {
		unit = ""
	}
	v := words.Estimate(*a.Table.Cell(env).Median, unit)
	if !interval {
		v, _, _ = strings.Cut(v, " [")
	}
	return v
}

// rest says what could not run, and where all that has no room stands.
func (s *screen) rest() {
	s.indent = below
	s.notRun()
	if len(s.answers) == 1 && len(s.answers[0].Table.Cells) <= roomForVersions {
		s.versions()
		s.untested()
	}
	if f := s.res.Findings; f != nil {
		s.command("Claims", "plimsoll findings "+s.record())
	}
	s.command("All tables", "plimsoll report "+s.record()+" --full")
	if !s.audited {
		s.command("Isolation", "plimsoll report "+s.record()+" --audit")
	}
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
		not = analyze.Also(not, name)
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
