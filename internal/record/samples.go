package record

import (
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"

	"plimsoll/internal/common/safepath"
)

// Samples opens a time series of a trial. The name comes from a file and is
// not trusted: nothing outside samples/ can be opened by it.
func (r *Reader) Samples(name string) (io.ReadCloser, error) {
	return r.open(SamplesDir, "time series", name)
}

// open opens a file of a trial in a folder of the record. what is for messages.
func (r *Reader) open(folder, what, name string) (io.ReadCloser, error) {
	fail := func(err error) (io.ReadCloser, error) {
		return nil, fmt.Errorf("opening the %s %q: %w", what, name, err)
	}
	if r.memory {
		return fail(errNoFiles)
	}
	root, err := os.OpenRoot(filepath.Join(r.dir, folder))
	if err != nil {
		return fail(err)
	}
	defer root.Close()
	f, err := safepath.OpenIn(root, name)
	if err != nil {
		return fail(err)
	}
	return f, nil
}

// ReadLines yields the JSON lines of a time series as values of type T. A torn
// last line is left out, as a kill leaves it; damage elsewhere is an error,
// after which nothing follows. name is for messages.
func ReadLines[T any](in io.Reader, name string) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		sc := newLineScanner(in, name)
		for sc.next() {
			var v T
			if err := json.Unmarshal(sc.line, &v); err != nil {
				yield(v, sc.damage(err))
				return
			}
			if !yield(v, nil) {
				return
			}
		}
		if sc.err != nil {
			var zero T
			yield(zero, sc.err)
		}
	}
}

// WriteLines writes values as JSON lines.
func WriteLines[T any](w io.Writer, values []T) error {
	enc := json.NewEncoder(w)
	for i := range values {
		if err := enc.Encode(&values[i]); err != nil {
			return err
		}
	}
	return nil
}
