package report

import (
	"strings"
	"unicode/utf8"

	"plimsoll/internal/common/harmless"
)

// maxText bounds a text from outside, in characters.
const maxText = 300

// OneLine makes text that came from a container, an engine or a file safe for
// a terminal and short enough for a line: see clean.
func OneLine(s string) string { return clean(s) }

// Prose is OneLine for a text of several sentences.
func Prose(s string) string { return prose(s) }

// ASCII replaces what is not ASCII by something that is as wide.
func ASCII(s string) string { return ascii(s) }

// clean makes text that came from a container or a file safe for a terminal
// and a single line: no escape sequences, no control characters, nothing that
// turns the direction of writing, and not without end.
func clean(s string) string { return cleanTo(s, maxText) }

// prose is clean for a text of several sentences.
func prose(s string) string { return cleanTo(s, 10*maxText) }

func cleanTo(s string, most int) string {
	return cut(strings.Join(strings.Fields(harmless.Text(s)), " "), most)
}

// cut shortens s to n characters, the last being an ellipsis.
func cut(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	if n <= 0 {
		return ""
	}
	r := []rune(s)
	return string(r[:n-1]) + "…"
}

// cutMiddle shortens s to n characters and keeps both ends, the tail whole
// from its last slash where that fits.
func cutMiddle(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	tail := n * 2 / 5
	if i := strings.LastIndexByte(s, '/'); i >= 0 {
		if k := utf8.RuneCountInString(s[i:]); k <= n/2 {
			tail = k
		}
	}
	return string(r[:n-1-tail]) + "…" + string(r[len(r)-tail:])
}

// ascii replaces what we write ourselves by something that looks alike and is
// as wide; whatever else is not ASCII becomes a question mark.
func ascii(s string) string {
	return strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf {
			return r
		}
		if a, ok := lookAlike[r]; ok {
			return a
		}
		return '?'
	}, s)
}

var lookAlike = map[rune]rune{
	'×': 'x', 'µ': 'u', '–': '-', '—': '-', '…': '.', '·': '.', '→': '>', '−': '-',
	'├': '|', '┤': '|', '─': '-', '●': 'o',
	'▁': '.', '▂': '.', '▃': ':', '▄': ':', '▅': '+', '▆': '+', '▇': '#', '█': '#', 'τ': 't', 'δ': 'd', '≥': '>', '’': '\'', '≈': '~', '²': '2', '±': '~', 'ω': 'w', '↑': '^',
}
