package report

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/common/remark"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/document"
	"plimsoll/internal/understand/verdict"
	"plimsoll/internal/understand/words"
)

// breaks is how many characters of a line may stay empty, since words are not cut.
const breaks = 12

// lately ends what doctor saw as a run began, which a reader meets later.
var lately = regexp.MustCompile(` of the last ([0-9]+ m?s)$`)

// beware is what may change a reader's mind, as much as has room on a line, or two below
// which there is room, and one at least: the doubts about the answer, what failed, what
// the machine was about, and in what else the first two differ.
func (s *screen) beware(a *verdict.Answer) string {
	var parts []string
	failed := func() {
		if n := s.res.Run.Failed; n > 0 {
			parts = append(parts, words.Plural(n, "trial")+" failed")
		}
	}
	if a != nil {
		if text := s.lessIsolated(a); text != "" {
			parts = append(parts, text)
		}
		failed()
		parts = append(parts, a.Doubts...)
	} else {
		if s.res.Run.Status != "done" {
			parts = append(parts, "the run is not finished")
		}
		failed()
		if n := s.res.Run.Blocks; n < 6 {
			parts = append(parts, fmt.Sprintf("with only %s it is preliminary", words.Plural(n, "block")))
		}
		if text := s.leastIsolated(); text != "" {
			parts = append(parts, text)
		}
	}
	for _, r := range slices.Concat(s.res.Run.Host.Remarks, s.res.Remarks) {
		if text := s.clause(r); text != "" && !slices.Contains(parts, text) {
			parts = append(parts, text)
		}
	}
	room := 0
	if a != nil {
		if keys := s.unsaidBeyond(a); len(keys) > 0 {
			parts = append(parts, verdict.Besides(keys))
		}
		if len(a.Table.Cells) < roomForVersions-1 { // there is a line to spare, but for where words break
			room = s.room() - breaks
		}
	}
	between, more := " · ", " · %d more (--full)"
	shown := len(parts)
	if !s.whole {
		_, shown = s.fits(parts, between, more, -room)
	}
	return listed(parts, shown, between, more) // whole, also the one that has no room on a line
}

// clause is the first clause of a remark that weighs, "" of another.
func (s *screen) clause(r record.Remark) string {
	if !remark.Weighs(r.Code) || r.Level == "info" || r.Env != "" && r.Code != "unverified" {
		return ""
	}
	if r.Code == "unequal" {
		return "engines differ in isolation (" + s.audit + ")"
	}
	text := words.Clean(r.Text)
	for _, end := range []string{". ", ": ", "; ", " (", ", though "} {
		text, _, _ = strings.Cut(text, end)
	}
	text = lately.ReplaceAllString(strings.TrimSuffix(text, "."), " of the $1 before the run")
	if len(text) > 1 && text[1] >= 'a' {
		text = strings.ToLower(text[:1]) + text[1:]
	}
	return text
}

// failedChecks is the line about what did not do the same.
func (s *screen) failedChecks() {
	if _, bad := checksOf(s.res); len(bad) > 0 {
		s.says("Failure", notTheSame+strings.Join(bad, ", "), document.Warn)
	}
}

// checks is the line about metrics that only prove that the same was done.
func (s *screen) checks() {
	agree, bad := checksOf(s.res)
	if len(bad) > 0 {
		return
	}
	switch len(agree) {
	case 0:
	case 1:
		s.says("Same work", agree[0], document.Plain)
	default:
		s.says("Same work", fmt.Sprintf("%d checks agree in all environments", len(agree)), document.Plain)
	}
}

// roughly is a time as people say it.
func roughly(d time.Duration) string {
	switch {
	case d < 90*time.Second:
		return fmt.Sprintf("%.0f s", math.Max(1, d.Seconds()))
	case d < 90*time.Minute:
		return fmt.Sprintf("%.0f min", d.Minutes())
	}
	return fmt.Sprintf("%.3g h", d.Hours())
}
