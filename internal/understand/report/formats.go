package report

import (
	"fmt"
	"io"
	"strings"
)

// formatsOf are the formats of one kind of result, in the order in which help
// lists them.
type formatsOf[T any] []struct {
	name  string
	write func(io.Writer, T, Options) error
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

// asJSON is the format json of anything.
func asJSON[T any](w io.Writer, x T, _ Options) error { return encode(w, x) }
