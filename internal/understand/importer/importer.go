// Package importer turns what other programs measured into a run: hyperfine's
// JSON and Go's benchmark format.
//
// It is opinionated: what those files do not say is unknown and said to be so.
// The order of their measurements is sequential, the machine is whatever they
// name, and a remark tells every reader of the run that nothing was
// interleaved. Files come from anywhere: what is not understood is refused.
package importer

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"plimsoll/internal/record"
)

// File is a file to import, whole.
type File struct {
	Path string
	Data []byte
	// Modified is when it was written: the only time that is known of it.
	Modified time.Time
}

// MaxSize bounds a file: beyond it, it is no table of measurements.
const MaxSize = 1 << 28

// The formats.
const (
	Hyperfine = "hyperfine"
	Benchfmt  = "benchfmt"
)

// Import reads files of one format and gives the run with its trials. Several
// files are measurements of the same things in several environments, one a
// file, unless they name environments themselves.
func Import(files []File) (*record.Run, []record.Trial, error) {
	if len(files) == 0 {
		return nil, nil, errors.New("importing: no file was given")
	}
	b := newBuilder(len(files) > 1)
	format, sum := "", sha256.New()
	from := &record.Imported{}
	for _, f := range files {
		name := filepath.Base(f.Path)
		digest := sha256.Sum256(f.Data)
		f.Data = bytes.TrimPrefix(f.Data, []byte("\xef\xbb\xbf")) // as editors on Windows write it
		this := detect(f.Data)
		if format != "" && this != format {
			return nil, nil, fmt.Errorf("importing %s: it is in the format %s, the file before it in %s: import them separately", f.Path, this, format)
		}
		format = this
		b.file(name)
		read := readBenchfmt
		if format == Hyperfine {
			read = readHyperfine
		}
		if err := read(f.Data, name, b); err != nil {
			return nil, nil, fmt.Errorf("importing %s: %w", f.Path, err)
		}
		sum.Write(digest[:])
		from.Files = append(from.Files, clean(name))
		from.SHA256 = append(from.SHA256, hex.EncodeToString(digest[:]))
	}
	from.Format = format
	run := b.finish(from)
	run.ID = hex.EncodeToString(sum.Sum(nil)[:4])
	run.Started = files[0].Modified.UTC()
	run.Study = record.Study{Name: stem(files[0].Path), Title: "imported from " + strings.Join(from.Files, ", ")}
	for i := range b.trials {
		b.trials[i].At = run.Started
	}
	return run, b.trials, nil
}

// detect tells the formats apart by their first character: benchmark lines
// never begin with a bracket.
func detect(data []byte) string {
	if t := bytes.TrimLeft(data, " \t\r\n"); len(t) > 0 && (t[0] == '{' || t[0] == '[') {
		return Hyperfine
	}
	return Benchfmt
}

// Write writes an imported run to a directory, which must be new or empty.
func Write(dir string, run *record.Run, trials []record.Trial) error {
	w, err := record.Create(dir, run)
	if err != nil {
		return err
	}
	for i := range trials {
		if err := w.Append(&trials[i]); err != nil {
			return errors.Join(err, w.Close())
		}
	}
	return errors.Join(w.Update(run), w.Close()) // once more, with the sum of the trials
}

// maxName bounds a name from a file, in characters.
const maxName = 200

// clean makes text from a file a name: of one line, without control characters
// or those that turn the direction of writing, and not without end.
func clean(s string) string {
	if len(s) > 64<<10 {
		s = s[:64<<10]
	}
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r):
			return unicode.ReplacementChar
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	s = strings.Join(strings.Fields(s), " ")
	if utf8.RuneCountInString(s) > maxName {
		s = string([]rune(s)[:maxName])
	}
	return strings.TrimSpace(s)
}

// stem is a file's name without its ending.
func stem(path string) string {
	base := filepath.Base(path)
	if s := clean(strings.TrimSuffix(base, filepath.Ext(base))); s != "" {
		return s
	}
	return "imported"
}
