package report

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze/sample"
	"plimsoll/internal/understand/document"
	"plimsoll/internal/understand/words"
)

// format is one in which a kind of result is written.
type format[T any] struct {
	name  string
	write func(io.Writer, T, Options) error
}

// Kind is a kind of result, with its formats in the order in which help lists them.
type Kind[T any] struct {
	what    string // in a message
	formats []format[T]
}

// kindOf is written as text and Markdown, by a result's document, and as more.
func kindOf[T any](what string, fill func(*document.Document, T, Options), more ...format[T]) Kind[T] {
	return Kind[T]{what, append([]format[T]{{"text", in(document.Text, fill)}, {"markdown", in(document.Markdown, fill)}}, more...)}
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

// asCSV is the format csv of what rows returns.
func asCSV[T any](rows func(T, Options) [][]string) func(io.Writer, T, Options) error {
	return func(w io.Writer, x T, o Options) error { return o.CSV.WriteAll(w, rows(x, o)) }
}

// numberCell is an estimate divided by a unit's By, with its interval; empty where there is
// none.
func numberCell(e *sample.Estimate, by float64, most int) document.Cell {
	if e == nil {
		return document.Cell{}
	}
	n := words.NumberOf(*e, by, most)
	return document.Cell{Text: n.Value, Tail: n.Interval}
}

// arrow marks the title of a metric of which more is better.
func arrow(better record.Direction) string {
	if better == record.HigherIsBetter {
		return " ↑"
	}
	return ""
}

// jsonOf is the format json of a part of what is written.
func jsonOf[T, P any](part func(T) P) format[T] {
	return format[T]{"json", func(w io.Writer, x T, o Options) error { return asJSON(w, part(x), o) }}
}

// Formats lists the formats.
func (k Kind[T]) Formats() []string {
	return lists.Map(k.formats, func(f format[T]) string { return f.name })
}

// Write writes a result of this kind in the format of this name.
func (k Kind[T]) Write(w io.Writer, name string, x T, opts Options) error {
	for _, f := range k.formats {
		if f.name == name {
			return f.write(w, x, opts)
		}
	}
	return fmt.Errorf("no format %q for %s: choose one of %s", name, k.what, strings.Join(k.Formats(), ", "))
}
