package record

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// maxLine bounds a line, in bytes: beyond it a file is damaged.
const maxLine = 8 << 20

// lineScanner yields the whole lines of a file. An unterminated last line is
// kept in torn, unless only its newline is missing.
type lineScanner struct {
	r      *bufio.Reader
	path   string
	number int   // of the current line, from 1
	offset int64 // behind the current line
	line   []byte
	long   []byte // holds a line that is longer than the buffer
	torn   []byte
	// unterminated: the current line is whole but has no newline.
	unterminated bool
	err          error
}

func newLineScanner(r io.Reader, path string) *lineScanner {
	return &lineScanner{r: bufio.NewReaderSize(r, 256<<10), path: path}
}

// next goes to the next line; line is valid until the one after. Empty lines
// are passed over.
func (s *lineScanner) next() bool {
	for {
		line, err := s.r.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			line, err = s.readLong(line)
		}
		if err != nil && !errors.Is(err, io.EOF) {
			s.err = fmt.Errorf("reading %s:%d: %w", s.path, s.number+1, err)
			return false
		}
		if err != nil {
			// The last line has no newline.
			if len(line) == 0 || !isWhole(line) {
				s.torn = line
				return false
			}
			s.unterminated = true
		}
		s.number++
		s.offset += int64(len(line))
		s.line = bytes.TrimSpace(line)
		if len(s.line) > 0 {
			return true
		}
	}
}

func (s *lineScanner) readLong(start []byte) ([]byte, error) {
	s.long = append(s.long[:0], start...)
	for len(s.long) <= maxLine {
		part, err := s.r.ReadSlice('\n')
		s.long = append(s.long, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return s.long, err
		}
	}
	return nil, fmt.Errorf("the line is longer than %d MiB", maxLine>>20)
}

// damage says where a line could not be understood.
func (s *lineScanner) damage(err error) error {
	return &DamageError{Path: s.path, Line: s.number, Err: err}
}

// DamageError is a line, not the last, that cannot be understood: not the
// trace of a kill but of something else.
type DamageError struct {
	Path string
	Line int
	Err  error
}

func (e *DamageError) Error() string {
	return fmt.Sprintf("%s:%d: this line is damaged: %v; restore the file from a copy, or cut it off before this line (--resume then measures again what is missing)", e.Path, e.Line, e.Err)
}

func (e *DamageError) Unwrap() error { return e.Err }
