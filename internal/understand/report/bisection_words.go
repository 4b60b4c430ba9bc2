package report

import (
	"fmt"
	"strings"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze/bisection"
	"plimsoll/internal/understand/analyze/sample"
	"plimsoll/internal/understand/document"
	"plimsoll/internal/understand/words"
)

// bisectionWords are what is said of a bisection.
type bisectionWords struct{ *Bisection }

// what is what was measured.
func (w bisectionWords) what() string {
	if w.bySize() {
		return "size of the program"
	}
	return words.Clean(w.Metric.ID) + " of " + words.Clean(w.Workload)
}

// worse and better are the words for the metric.
func (w bisectionWords) worse() string {
	switch {
	case w.bySize():
		return "larger"
	case faster(w.Metric):
		return "slower"
	}
	return "worse"
}

func (w bisectionWords) better() string {
	switch {
	case w.bySize():
		return "smaller"
	case faster(w.Metric):
		return "faster"
	}
	return "better"
}

// commit is one of the range, GoodEnd the good one.
func (w bisectionWords) commit(i int) Revision {
	if i == bisection.GoodEnd {
		return w.Good
	}
	return w.Commits[i]
}

func (w bisectionWords) named(i int) string {
	c := w.commit(i)
	return fmt.Sprintf("%s “%s”", c.Short(), words.Clean(c.Subject))
}

// list names some commits, the first few.
func (w bisectionWords) list(commits []int) string {
	var names []string
	for _, i := range commits {
		names = append(names, w.commit(i).Short())
	}
	return words.FirstFew(names)
}

// size is the change at the commit.
func (w bisectionWords) size() string {
	p := w.Outcome.Pair
	if p == nil || p.Change == nil {
		return "its size could not be measured"
	}
	if p.Bytes != nil {
		return w.bytesBetween(p)
	}
	s := fmt.Sprintf("%s %s against %s (%s)", w.what(), relative(p.Change), w.commit(w.Outcome.Before).Short(), words.Plural(p.Blocks, "block"))
	if p.More {
		s += "; that is not all of the difference: there is another step"
	}
	return s
}

// ends is what the ends differ by.
func (w bisectionWords) ends() string {
	e := w.Outcome.Ends
	if e == nil || e.Ends == nil {
		return w.what()
	}
	if e.Bytes != nil {
		return w.what() + " " + grown(e.Bytes.Good, e.Bytes.Bad, e.Ends)
	}
	return fmt.Sprintf("%s %s, %s", w.what(), relative(e.Ends), words.Plural(e.Blocks, "block"))
}

// verdict is the answer in one line.
func (w bisectionWords) verdict() string {
	o, p := w.Outcome, words.Clean(w.Program)+": "
	switch o.Result {
	case bisection.Found:
		return p + w.named(o.Commits[0]) + " made it " + w.worse() + ": " + w.size()
	case bisection.Among:
		return p + fmt.Sprintf("one of %s made it %s, of which the others can't be measured: %s; together %s",
			words.Plural(len(o.Commits), "commit"), w.worse(), w.list(o.Commits), w.size())
	case bisection.Halves:
		middle := o.Commits[len(o.Commits)-1]
		return p + fmt.Sprintf("it became %s in two parts: %s lies between the ends, so that one commit is among the %d up to it (%s), and another among the %d after it (%s)",
			w.worse(), w.named(middle), len(o.Commits), w.list(o.Commits), len(o.Later), w.list(o.Later))
	case bisection.Alike:
		return p + w.alike()
	case bisection.Backwards:
		return p + "the bad end is " + w.better() + " than the good one: " + w.ends() + "; to find what made it " + w.better() + ", exchange them"
	case bisection.Blind:
		return p + "this machine no longer tells the ends apart, so nothing more is decided; go on when it is calm: " + words.Clean(w.Resume)
	case bisection.Contradicted:
		return p + "the steps lead to " + w.named(o.Commits[len(o.Commits)-1]) + ", which is not " + w.worse() + ": " + w.size() + "; search again"
	}
	return p + fmt.Sprintf("one of %s made it %s; go on with: %s", words.Plural(len(o.Commits), "commit"), w.worse(), words.Clean(w.Resume))
}

// alike says why the ends are not told apart, what could have been found, and what to
// do about it.
func (w bisectionWords) alike() string {
	if len(w.Steps) > 0 && w.Steps[0].Why != "" {
		return words.Clean(w.Steps[0].Why) + ": there is nothing to find"
	}
	s := "the ends can't be told apart: " + w.ends()
	if finds := w.Outcome.Ends.Finds; finds != nil {
		s += "; nine of ten such measurements find " + sample.Percent(*finds)
	} else {
		s += "; these are too few to say what they could have found: give more time by --budget"
	}
	if w.Given != nil {
		return s + "; what made " + w.Given.Short() + " better may lie on its own branch: search there from " + w.Good.Short() + " on, with the ends exchanged"
	}
	return s + "; where a later commit has made up for it, give an earlier bad one"
}

// parted says that the good end is not the one that was asked for.
func (w bisectionWords) parted() string {
	if w.Given == nil {
		return ""
	}
	return fmt.Sprintf("The good commit %s “%s” does not come before the bad one. As git bisect does, the search began where their histories part, at %s “%s”, which was measured in its place.",
		w.Given.Short(), words.Clean(w.Given.Subject), w.Good.Short(), words.Clean(w.Good.Subject))
}

// subject is that of a commit of the range, short enough for a table.
func (w bisectionWords) subject(hash string) string {
	for _, c := range w.Commits {
		if c.Hash == hash {
			return words.Shorten(words.Clean(c.Subject), 40)
		}
	}
	return ""
}

// is says what came of a measurement.
func (w bisectionWords) is(v bisection.Verdict) string {
	return map[bisection.Verdict]string{
		bisection.AsGood: "like the good end", bisection.AsBad: "like the bad end", bisection.Unclear: "cannot tell", bisection.Skipped: "skipped",
		bisection.Unseen: "ends not told apart", bisection.Worse: w.worse(), bisection.Better: w.better(),
	}[v]
}

// StepSentence says in one line what came of measuring one commit between two ends.
func StepSentence(program string, m record.Metric, workload string, f bisection.Finding, why string) string {
	w := bisectionWords{&Bisection{Metric: m, Workload: workload}}
	s := words.Clean(program) + ": " + w.is(f.Verdict)
	if why != "" {
		return s + ": " + words.Clean(why)
	}
	if b := f.Bytes; b != nil {
		return s + fmt.Sprintf(": %s %s against the good end, the bad end %s", w.what(), grown(b.Good, b.Commit, f.Change), grown(b.Good, b.Bad, f.Ends))
	}
	if f.Change != nil && f.Ends != nil {
		s += fmt.Sprintf(": %s %s against the good end, the bad end %s (%s)", w.what(), relative(f.Change), relative(f.Ends), words.Plural(f.Blocks, "block"))
	}
	return s
}

// row is a step in the table.
func (w bisectionWords) row(s *BisectionStep) document.Row {
	cut := func(hash string) string { return Revision{Hash: hash}.Short() }
	c := []string{cut(s.Commit), "both ends", w.is(s.Finding.Verdict), "", "", w.subject(s.Commit)}
	change := s.Finding.Change
	switch s.Kind {
	case bisection.Ends:
		c[1], change = cut(s.Before), s.Finding.Ends
	case bisection.Pair:
		c[1] = cut(s.Before)
	}
	if s.Finding.Bytes != nil {
		c[3] = bytesMore(s)
	} else if change != nil {
		c[3] = relative(change)
	}
	if s.Finding.Blocks > 0 {
		c[4] = fmt.Sprint(s.Finding.Blocks)
	}
	row := document.Row{}
	for _, text := range c {
		row.Cells = append(row.Cells, document.Cell{Text: text})
	}
	if s.Why != "" {
		row.Below = []document.Line{document.Say(words.Clean(s.Why))}
	}
	return row
}

// changes says what the table's column of changes holds.
func (w bisectionWords) changes() string {
	if w.bySize() {
		return "Changes: of the program's file, in bytes, as the build leaves it."
	}
	return "Changes: " + w.what() + ", with 95 % intervals, from differences inside blocks."
}

// chance says what the answer is worth.
func (w bisectionWords) chance() string {
	if w.bySize() {
		return "A size does not vary by chance: a commit that lies nearer to an end is like it."
	}
	return fmt.Sprintf("The chance that any of the decisions is wrong is at most %s.", sample.Percent(w.Alpha))
}

// untested says what was not measured.
func (w bisectionWords) untested() string {
	n := len(w.Outcome.Untested)
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("Passed over, since they could not be measured: %s (%d of %s).", w.list(w.Outcome.Untested), n, words.Plural(len(w.Commits), "commit"))
}

// stat is the summary of git, line by line.
func (w bisectionWords) stat() []document.Item {
	var lines []string
	for line := range strings.Lines(w.Stat) {
		lines = append(lines, words.Clean(strings.TrimSpace(line)))
	}
	return document.Items(lines)
}
