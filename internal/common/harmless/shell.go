package harmless

import (
	"fmt"
	"strings"
)

const (
	letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	// plain are the signs that mean nothing to a shell within a word.
	plain = letters + "_./+-,:%=@"
)

// ShellWord quotes s for a POSIX shell where it needs that, so that a command that
// is printed can be pasted.
func ShellWord(s string) string {
	if s != "" && strings.Trim(s, plain) == "" && s[0] != '-' {
		return s
	}
	if printed := Text(s); printed != s && !strings.HasSuffix(s, "\n") {
		// What can't be shown is spelt out, for a shell to put together again.
		return `"$(printf '` + octal(s) + `')"`
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// octal is s as a format of printf(1) in single quotes.
func octal(s string) string {
	var out strings.Builder
	for i := range len(s) {
		switch c := s[i]; {
		case c == '%':
			out.WriteString("%%")
		case c < ' ' || c > '~' || c == '\'' || c == '"' || c == '\\':
			fmt.Fprintf(&out, `\%03o`, c)
		default:
			out.WriteByte(c)
		}
	}
	return out.String()
}

// ShellLine quotes the arguments of a command; options stay as they are typed, and
// so do those of another command behind "--".
func ShellLine(args []string) string {
	words, other := make([]string, len(args)), false
	for i, a := range args {
		name, value, has := strings.Cut(a, "=")
		switch {
		case other && strings.HasPrefix(a, "-") && strings.Trim(a, plain) == "":
			words[i] = a
		case !strings.HasPrefix(a, "--") || strings.Trim(name, letters+"-") != "":
			words[i] = ShellWord(a)
		case has && value != "":
			words[i] = name + "=" + ShellWord(value)
		default:
			words[i] = a
		}
		other = other || a == "--"
	}
	return strings.Join(words, " ")
}
