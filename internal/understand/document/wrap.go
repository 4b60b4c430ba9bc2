package document

import (
	"cmp"
	"strings"

	"plimsoll/internal/understand/words"
)

// Wrap breaks text into lines of at most limit characters; all but the first
// begin with indent.
func Wrap(text string, limit int, indent string) []string {
	var out []string
	line := ""
	for _, word := range strings.Fields(text) {
		for {
			lead := ""
			if len(out) > 0 {
				lead = indent
			}
			line = cmp.Or(line, lead)
			blank := strings.TrimSpace(line) == ""
			need := words.Width(line) + words.Width(word)
			if !blank {
				need++
			}
			if need <= limit {
				if !blank {
					line += " "
				}
				line += word
				break
			}
			if blank { // a word longer than the line
				r := []rune(word)
				n := max(1, limit-words.Width(line))
				out = append(out, line+string(r[:n]))
				line, word = "", string(r[n:])
				if word == "" {
					break
				}
				continue
			}
			out = append(out, line)
			line = ""
		}
	}
	if strings.TrimSpace(line) != "" {
		out = append(out, line)
	}
	return out
}
