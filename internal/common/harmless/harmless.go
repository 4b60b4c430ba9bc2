// Package harmless takes out of text from outside what does something to a
// terminal instead of being shown by it.
package harmless

import (
	"regexp"
	"strings"
	"unicode"
)

// escapes are terminal sequences: CSI, OSC, and those of two bytes or three.
var escapes = regexp.MustCompile("\x1b\\[[0-?]*[ -/]*[@-~]|\x1b[\\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\\\)?|\x1b[ -/]+[0-~]|\x1b[0-~]?")

// most bounds a text, in bytes.
const most = 64 << 10

// Text is s as one line without escape sequences, control characters, what
// turns the direction of writing, and characters of private use; what is no
// UTF-8 becomes U+FFFD. Beyond 64 KiB it is cut.
func Text(s string) string {
	if len(s) > most {
		s = s[:most]
	}
	s = escapes.ReplaceAllString(strings.ToValidUTF8(s, "\uFFFD"), "")
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r), unicode.IsControl(r):
			return ' '
		case unicode.Is(unicode.Cf, r), unicode.Is(unicode.Co, r):
			return -1
		}
		return r
	}, s)
}
