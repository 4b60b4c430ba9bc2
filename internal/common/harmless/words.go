package harmless

import "strings"

// ShellWords splits a line that ShellLine made, or a user typed, between its words,
// which keep their quotes: a line may be broken there and nowhere else.
func ShellWords(line string) (words []string) {
	var word strings.Builder
	var quote rune // the one that is open
	escaped := false
	for _, c := range line {
		switch {
		case escaped:
			escaped = false
		case c == '\\' && quote != '\'':
			escaped = true
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == ' ' || c == '\t' || c == '\n':
			if word.Len() > 0 {
				words = append(words, word.String())
				word.Reset()
			}
			continue
		}
		word.WriteRune(c)
	}
	if word.Len() > 0 {
		words = append(words, word.String())
	}
	return words
}
