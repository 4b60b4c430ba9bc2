package run

import (
	"strings"
	"unicode"
)

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
