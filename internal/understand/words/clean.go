package words

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"plimsoll/internal/common/harmless"
)

// maxText bounds a text from outside, in characters.
const maxText = 300

// Clean makes text that came from a container, an engine or a file safe for a
// terminal and a single line: no escape sequences, no control characters,
// nothing that turns the direction of writing, and not without end.
func Clean(s string) string { return cleanTo(s, maxText) }

// Prose is Clean for a text of several sentences.
func Prose(s string) string { return cleanTo(s, 10*maxText) }

// Command is a command that is to be pasted, whole: half of one would be another one.
// One that nobody would paste is left to the record.
func Command(s string) string {
	const most = 4000
	if s = harmless.Text(s); Width(s) > most {
		return fmt.Sprintf("(a command of %d characters: it is in run.json)", Width(s))
	}
	return s
}

// Width is how many characters a text is wide.
func Width(s string) int { return utf8.RuneCountInString(s) }

func cleanTo(s string, most int) string {
	return Cut(strings.Join(strings.Fields(harmless.Text(s)), " "), most)
}

// Cut shortens s to n characters, the last being an ellipsis.
func Cut(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	if n <= 0 {
		return ""
	}
	r := []rune(s)
	return string(r[:n-1]) + "…"
}

// ASCII replaces what we write ourselves by something that looks alike and is
// as wide; whatever else is not ASCII becomes a question mark.
func ASCII(s string) string {
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
	'├': '|', '│': '!', '┤': '|', '─': '-', '●': 'o', '○': 'O', '▒': '=', '•': '*',
	'▁': '.', '▂': '.', '▃': ':', '▄': ':', '▅': '+', '▆': '+', '▇': '#', '█': '#', 'τ': 't', 'δ': 'd', '≥': '>', '’': '\'', '≈': '~', '²': '2', '±': '~', 'ω': 'w', '↑': '^',
	'ä': 'a', 'ö': 'o', 'ü': 'u', 'Ä': 'A', 'Ö': 'O', 'Ü': 'U', 'é': 'e', 'è': 'e', '“': '"', '”': '"', '‘': '\'',
}
