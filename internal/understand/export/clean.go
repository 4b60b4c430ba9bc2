package export

import (
	"strings"
	"unicode"
)

// clean makes text from a run safe for a format of lines and for a terminal:
// each control character, and each character that turns the direction of
// writing, becomes U+FFFD. Nothing else changes, so that names still match.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029' {
			return unicode.ReplacementChar
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}
