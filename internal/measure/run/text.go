package run

import (
	"strings"
	"unicode"

	"plimsoll/internal/common/harmless"
)

// mostFailureText bounds what a record says of a failure, in bytes: what an
// engine or a container said of it may be without end.
const mostFailureText = 2000

// bounded makes a text harmless, since records are looked at in a terminal, and
// cuts it between two characters.
func bounded(s string) string {
	s = strings.TrimSpace(harmless.Text(s))
	if len(s) <= mostFailureText {
		return s
	}
	return strings.ToValidUTF8(s[:mostFailureText], "") + "…"
}

// splitLines gives the lines of what came from a container, made harmless:
// control characters would reach the user's terminal.
func splitLines(b []byte) []string {
	lines := strings.Split(strings.ToValidUTF8(string(b), "\uFFFD"), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimSpace(strings.Map(func(r rune) rune {
			if unicode.IsControl(r) {
				return -1
			}
			return r
		}, l))
	}
	return lines
}
