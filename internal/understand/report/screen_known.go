package report

import (
	"fmt"
	"slices"
	"strings"

	"plimsoll/internal/understand/document"
	"plimsoll/internal/understand/verdict"
)

// known are the two engines that most readers know: where both were measured, how the
// one stands against the other is said.
var known = [2]struct{ engine, title string }{{"docker", "Docker"}, {"podman", "Podman"}}

// bestOf is the best environment of an engine, "" where it has none with a value.
func (s *screen) bestOf(a *verdict.Answer, engine string) string {
	for _, e := range a.All {
		if s.engine(e) == engine {
			return e
		}
	}
	return ""
}

// acquaintances are the best environments of both known engines, the worse one and its
// title first; "" where not both have a value.
func (s *screen) acquaintances(a *verdict.Answer) (title, worse, better string) {
	better, worse = s.bestOf(a, known[0].engine), s.bestOf(a, known[1].engine)
	if better == "" || worse == "" {
		return "", "", ""
	}
	title = known[1].title
	if slices.Index(a.All, better) > slices.Index(a.All, worse) {
		better, worse, title = worse, better, known[0].title
	}
	return title, worse, better
}

// saidAlready: the lines about the next and the last hold the two against each other.
func saidAlready(a *verdict.Answer, worse, better string) bool {
	first, last := a.First[0], a.All[len(a.All)-1]
	return better == first && (worse == a.Next || worse == last) || better == a.Next && worse == last
}

// acquainted is the line of several workloads about both known engines.
func (s *screen) acquainted(all []line) {
	better, worse, open := 0, 0, 0
	for _, l := range all {
		title, w, b := s.acquaintances(l.Answer)
		switch {
		case title == "":
		case !l.Apart(w, b):
			open++
		case title == known[0].title:
			worse++
		default:
			better++
		}
	}
	if better+worse+open == 0 {
		return
	}
	var parts []string
	for _, p := range []struct {
		n    int
		what string
	}{{better, "better in"}, {worse, "worse in"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", p.what, p.n))
		}
	}
	if open > 0 {
		parts = append(parts, fmt.Sprintf("%d cannot be told", open))
	}
	s.says(known[0].title, "against "+known[1].engine+", each at its best: "+strings.Join(parts, ", "), document.Plain)
}
