package report

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"plimsoll/internal/understand/analyze/compare"
	"plimsoll/internal/understand/words"
)

type junitSuites struct {
	XMLName xml.Name     `xml:"testsuites"`
	Suites  []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	Failure *junitMessage `xml:"failure,omitempty"`
	Skipped *junitMessage `xml:"skipped,omitempty"`
	Out     string        `xml:"system-out,omitempty"`
}

type junitMessage struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

// changesJUnit writes a test case for each cell that is gated, and for each
// whose trials fail more often. What is inconclusive is skipped, as is every
// cell without a gate.
func changesJUnit(w io.Writer, c *compare.Changes, _ Options) error {
	s := junitSuite{Name: "plimsoll compare"}
	add := func(k junitCase) {
		s.Tests++
		if k.Failure != nil {
			s.Failures++
		}
		if k.Skipped != nil {
			s.Skipped++
		}
		s.Cases = append(s.Cases, k)
	}
	for i := range c.Cells {
		ch := &c.Cells[i]
		k := junitCase{Class: words.Clean(ch.Workload) + "." + words.Clean(ch.Name()), Name: words.Clean(ch.Metric.ID)}
		switch {
		case ch.Gate == nil:
			k.Skipped = &junitMessage{Message: "no threshold: " + changeLine(ch)}
		case ch.Gate.State == compare.GateFails:
			k.Failure = &junitMessage{Message: words.Clean(ch.Gate.Reason), Type: "worse", Text: gateLineOf(c, ch)}
		case ch.Gate.State == compare.Inconclusive:
			k.Skipped = &junitMessage{Message: "inconclusive: " + words.Clean(ch.Gate.Reason)}
		}
		add(k)
	}
	for i, l := range failureLines(c) {
		k := junitCase{Class: words.Clean(c.Failures[i].Workload) + "." + words.Clean(c.Failures[i].Env), Name: "failures"}
		if g := c.Failures[i].Gate; g != nil && g.Reason != "" {
			switch g.State {
			case compare.GateFails:
				k.Failure = &junitMessage{Message: l, Type: "failures"}
			case compare.Inconclusive:
				k.Skipped = &junitMessage{Message: "inconclusive: " + l}
			default:
				k.Out = l
			}
		}
		add(k)
	}
	if c.Gate != nil && c.Gate.Incomplete {
		add(junitCase{Class: "plimsoll", Name: "both runs are complete", Skipped: &junitMessage{Message: gateLine(c.Gate)}})
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(junitSuites{Suites: []junitSuite{s}}); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// changeLine is a cell in one line.
func changeLine(ch *compare.Change) string {
	if ch.Ratio == nil {
		return verdictText(ch)
	}
	n := words.NumberOf(*ch.Ratio, 1, 3)
	return "NEW / BASE " + strings.TrimSpace(n.Value+" × "+n.Interval) + ", " + verdictText(ch)
}

// gateLineOf is the same with what the gate judged by.
func gateLineOf(c *compare.Changes, ch *compare.Change) string {
	line := changeLine(ch)
	if why := mostOf(c, ch); why != "" {
		line += "; " + why
	}
	if by := gateEvidence(c.Gate, ch.Gate); by != "" {
		return "gate: " + by + "; " + line
	}
	return line
}

// A workflow command ends with its line, and its properties with a comma or a
// colon: these are written as GitHub's runner reads them back.
var (
	ghText = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	ghName = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// changesGitHub writes workflow commands: an error for each cell that fails, a
// warning for what is inconclusive or worse without a threshold.
func changesGitHub(w io.Writer, c *compare.Changes, _ Options) error {
	out := bufio.NewWriter(w)
	say := func(level, title, text string) {
		fmt.Fprintf(out, "::%s title=%s::%s\n", level, ghName.Replace(title), ghText.Replace(text))
	}
	for i := range c.Cells {
		ch := &c.Cells[i]
		title := fmt.Sprintf("%s of %s in %s", words.Clean(ch.Metric.ID), words.Clean(c.Work(ch.Workload)), words.Clean(ch.Name()))
		switch {
		case ch.Gate != nil && ch.Gate.State == compare.GateFails:
			say("error", title, words.Clean(ch.Gate.Reason)+"; "+gateLineOf(c, ch))
		case ch.Gate != nil && ch.Gate.State == compare.Inconclusive:
			say("warning", title, "inconclusive: "+words.Clean(ch.Gate.Reason)+"; "+gateLineOf(c, ch))
		case ch.Gate == nil && (ch.Verdict == compare.Worse || ch.Lost):
			say("warning", title, changeLine(ch))
		}
	}
	for i, l := range failureLines(c) {
		if f := &c.Failures[i]; f.More() && (c.Gate == nil || f.Gate != nil) {
			level := "warning"
			if f.Gate != nil && f.Gate.State == compare.GateFails {
				level = "error"
			}
			say(level, "failures of "+words.Clean(c.Work(c.Failures[i].Workload))+" in "+words.Clean(c.Failures[i].Env), l)
		}
	}
	for _, m := range c.Remarks {
		if m.Level != "info" {
			say("warning", "plimsoll: "+m.Code, words.Sentence(words.Clean(m.Text)))
		}
	}
	if c.Gate != nil {
		say("notice", "plimsoll compare", gateLine(c.Gate))
	} else {
		say("notice", "plimsoll compare", words.Plural(len(c.Cells), "cell")+" compared, without a gate")
	}
	return out.Flush()
}
