package record

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"

	"plimsoll/internal/common/safepath"
)

// Reader reads a run's directory, also while it is still being written. It
// holds no trial: Trials streams them.
type Reader struct {
	dir     string
	run     *Run
	remarks []Remark

	memory bool
	trials []Trial // of a run in memory
}

// Open reads run.json.
func Open(dir string) (*Reader, error) {
	run, err := readRun(dir)
	if err != nil {
		return nil, err
	}
	return &Reader{dir: dir, run: run}, nil
}

// Run is everything but the trials.
func (r *Reader) Run() *Run { return r.run }

// Dir is the run's directory.
func (r *Reader) Dir() string { return r.dir }

// Remarks says what was odd in the files read so far: it is whole after
// Trials has come to its end.
func (r *Reader) Remarks() []Remark { return r.remarks }

// Trials yields the trials in the order in which they were run. The trial is
// valid until the next one, with all that it points to: copy what is kept. After an error nothing follows.
func (r *Reader) Trials() iter.Seq2[*Trial, error] {
	if r.memory {
		return r.held
	}
	return func(yield func(*Trial, error) bool) {
		path := filepath.Join(r.dir, TrialsFile)
		f, err := safepath.OpenRegular(path)
		sums := &chain{known: r.run.Sum}
		if errors.Is(err, fs.ErrNotExist) {
			r.remarkSums(sums) // killed before the first trial, if there was none
			return
		}
		if err != nil {
			yield(nil, fmt.Errorf("reading the trials: %w", err))
			return
		}
		defer f.Close()
		var seen bitset
		joined := r.run.joined()
		sc := newLineScanner(f, path)
		for s := range decodeLines(sc, sums) {
			if s.err == nil && !seen.add(s.trial.Seq) {
				s.err = errTwice(s.trial.Seq)
			}
			if s.err != nil {
				yield(nil, &DamageError{Path: path, Line: s.number, Err: s.err})
				return
			}
			joined.part(&s.trial)
			if !yield(&s.trial, nil) {
				return
			}
		}
		if sc.err != nil {
			yield(nil, sc.err)
			return
		}
		r.remarkTorn(sc, "trial")
		r.remarkSums(sums)
	}
}

func (r *Reader) remarkSums(sums *chain) {
	if m := sums.remark(); m != nil {
		r.remark(*m)
	}
}

func checkSeq(seq int) error {
	if seq < 0 || seq >= MaxSeq {
		return fmt.Errorf("seq %d is not from 0 to %d", seq, MaxSeq-1)
	}
	return nil
}

func errTwice(seq int) error { return fmt.Errorf("trial %d occurs a second time", seq) }

// remarkTorn notes a torn last line. A run that still goes on is merely being written.
func (r *Reader) remarkTorn(sc *lineScanner, what string) {
	if len(sc.torn) == 0 {
		return
	}
	r.remark(Remark{
		Code: "torn-tail", Level: "info",
		Text:   fmt.Sprintf("the last line of %s is torn (line %d, %d bytes): the run was killed while it wrote; the %s is left out", filepath.Base(sc.path), sc.number+1, len(sc.torn), what),
		Advice: "continue the run with --resume: it measures what is missing",
	})
}

// remark notes what is odd, once however often a file is read.
func (r *Reader) remark(m Remark) {
	if slices.Contains(r.remarks, m) {
		return
	}
	r.remarks = append(r.remarks, m)
}

// Insides gives what payloads saw, in the order in which it was first seen.
func (r *Reader) Insides() ([]Inside, error) {
	if r.memory {
		return nil, nil
	}
	path := filepath.Join(r.dir, InsideFile)
	f, err := safepath.OpenRegular(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading what the payloads saw: %w", err)
	}
	defer f.Close()
	var all []Inside
	sc := newLineScanner(f, path)
	for sc.next() {
		var in Inside
		if err := json.Unmarshal(sc.line, &in); err != nil {
			return nil, sc.damage(err)
		}
		all = append(all, in)
	}
	if sc.err != nil {
		return nil, sc.err
	}
	r.remarkTorn(sc, "entry")
	return all, nil
}

// Output opens what a trial printed. The name comes from a file and is not
// trusted: nothing outside output/ can be opened by it.
func (r *Reader) Output(name string) (io.ReadCloser, error) {
	return r.open(OutputDir, "output", name)
}

// mostOfFile bounds a JSON file of a record that is read whole, in bytes: one of a run with
// a thousand environments has some MB.
const mostOfFile = 64 << 20

func readRun(dir string) (*Run, error) {
	path := filepath.Join(dir, RunFile)
	data, err := safepath.ReadRegular(path, mostOfFile, "the description of a run")
	if err != nil {
		if info, serr := os.Stat(dir); errors.Is(serr, fs.ErrNotExist) {
			return nil, noDir(dir)
		} else if serr != nil {
			return nil, fmt.Errorf("opening a run: %w; give the directory that `plimsoll run -o DIR` wrote", serr)
		} else if !info.IsDir() {
			return nil, fmt.Errorf("opening a run: %s is a file; give the directory that `plimsoll run -o DIR` wrote", dir)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s is not a run: it has no %s; give the directory that `plimsoll run -o DIR` wrote", dir, RunFile)
		}
		return nil, fmt.Errorf("opening a run: %w", err)
	}
	return decodeRun(path, data)
}

// decodeRun understands a run.json; path is for messages.
func decodeRun(path string, data []byte) (*Run, error) {
	// The version first: a newer format may have changed the type of any field.
	var v struct {
		Format *int `json:"format"`
	}
	if err := json.Unmarshal(data, &v); err != nil {
		return nil, runDamage(path, data, err)
	}
	switch {
	case v.Format == nil || *v.Format < 1:
		return nil, fmt.Errorf("%s is not plimsoll's: it names no format version", path)
	case *v.Format > FormatVersion:
		return nil, fmt.Errorf("%s has format %d, written by a newer plimsoll; this one reads formats up to %d: use the newer one", path, *v.Format, FormatVersion)
	}
	var run Run
	if err := json.Unmarshal(data, &run); err != nil {
		return nil, runDamage(path, data, err)
	}
	return &run, nil
}

// runDamage says on which line of run.json decoding stopped.
func runDamage(path string, data []byte, err error) error {
	if len(bytes.TrimSpace(data)) == 0 {
		return fmt.Errorf("%s is empty: the file system lost it; the trials cannot be understood without it: restore it from a copy", path)
	}
	at := int64(len(data))
	var syntax *json.SyntaxError
	var typ *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		at = syntax.Offset
	case errors.As(err, &typ):
		at, err = typ.Offset, fmt.Errorf("%s can't be of the type %s", cmp.Or(typ.Field, "what it holds"), typ.Value)
	}
	at = min(max(at, 0), int64(len(data)))
	line := 1 + bytes.Count(data[:at], []byte("\n"))
	return fmt.Errorf("%s:%d: this file is damaged: %w; restore it from a copy", path, line, err)
}

// noDir is the error that a run's directory is not there; it wraps fs.ErrNotExist
// without the words of the system.
type noDir string

func (dir noDir) Error() string {
	return "opening a run: there is no " + string(dir) + "; give the directory that `plimsoll run -o DIR` wrote"
}

// Unwrap says what kind of an error it is.
func (noDir) Unwrap() error { return fs.ErrNotExist }
