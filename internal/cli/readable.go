package cli

import (
	"io"
	"slices"
	"unicode/utf8"

	"plimsoll/internal/understand/words"
)

// readable is the world with output that the terminal can show: nothing beyond ASCII
// where its locale is not one of UTF-8. Files and pipes get what is written.
func (w World) readable() World {
	if w.Getenv == nil || unicodeHere(w) {
		return w
	}
	if w.Width != nil && w.Width() > 0 {
		w.Stdout = &asciiWriter{to: w.Stdout}
	}
	if w.ErrTerminal {
		w.Stderr = &asciiWriter{to: w.Stderr}
	}
	return w
}

// asciiWriter writes text with what looks alike in place of all that is not ASCII. The
// bytes of a sign that a write cuts off wait for the next one.
type asciiWriter struct {
	to   io.Writer
	rest []byte
}

func (a *asciiWriter) Write(p []byte) (int, error) {
	b := slices.Concat(a.rest, p)
	whole := len(b)
	for i := max(0, whole-utf8.UTFMax+1); i < whole; i++ {
		if utf8.RuneStart(b[i]) && !utf8.FullRune(b[i:]) {
			whole = i
			break
		}
	}
	a.rest = append([]byte(nil), b[whole:]...)
	if _, err := io.WriteString(a.to, words.ASCII(string(b[:whole]))); err != nil {
		return 0, err
	}
	return len(p), nil
}
