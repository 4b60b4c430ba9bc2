package report

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"plimsoll/internal/understand/document"
)

// format is one in which a kind of result is written.
type format[T any] struct {
	name  string
	write func(io.Writer, T, Options) error
}

// formatsOf are the formats of one kind of result, in the order in which help
// lists them.
type formatsOf[T any] []format[T]

// formats are text and Markdown, written from a result's document, and more.
func formats[T any](fill func(*document.Document, T, Options), more ...format[T]) formatsOf[T] {
	return append(formatsOf[T]{{"text", in(document.Text, fill)}, {"markdown", in(document.Markdown, fill)}}, more...)
}

// in writes a result's document for a medium.
func in[T any](m document.Medium, fill func(*document.Document, T, Options)) func(io.Writer, T, Options) error {
	return func(w io.Writer, x T, o Options) error {
		d := &document.Document{Medium: m, Width: o.Width, Color: o.Color, ASCII: o.ASCII}
		if d.Width <= 0 {
			d.Width = defaultWidth
		}
		d.Width = max(d.Width, minWidth)
		fill(d, x, o)
		return d.Write(w)
	}
}

// defaultWidth is that of a page when the terminal's is not known; below
// minWidth lines are cut.
const defaultWidth, minWidth = 100, 40

// asJSON is the format json of anything: the whole of it, whatever the options.
// Nothing needs cleaning here, since JSON escapes control characters.
func asJSON[T any](w io.Writer, x T, _ Options) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(x)
}

func (l formatsOf[T]) names() []string {
	names := make([]string, len(l))
	for i, f := range l {
		names[i] = f.name
	}
	return names
}

// write writes x, a result of this kind, in the format of this name.
func (l formatsOf[T]) write(w io.Writer, name, kind string, x T, opts Options) error {
	for _, f := range l {
		if f.name == name {
			return f.write(w, x, opts)
		}
	}
	return fmt.Errorf("no format %q for %s: choose one of %s", name, kind, strings.Join(l.names(), ", "))
}
