package fleet

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"time"

	"plimsoll/internal/record"
)

// How often the far side looks for what is new while the run goes on, and how
// often it says at least something. A look is three calls of stat: what else there
// is of a record waits for the end, so that a trial is disturbed by nothing.
const (
	lookEvery  = time.Second
	aliveEvery = 5 * time.Second
)

// logFile is the name under which the log is sent.
const logFile = ".log"

// sender sends what a receiver has not.
type sender struct {
	w    writer
	root *os.Root
	log  string
	have map[string]have
	sent map[string]sentFile
}

type sentFile struct {
	info fs.FileInfo
	size int64
}

// Send sends the record to a receiver that says first what it has, and goes on
// until the run has ended and everything is there.
func (h *Here) Send(in io.Reader, out io.Writer) error {
	s := &sender{w: writer{bufio.NewWriter(out)}, log: h.Log(), sent: map[string]sentFile{}}
	if err := json.NewDecoder(in).Decode(&s.have); err != nil {
		return fmt.Errorf("reading what is there already: %w", err)
	}
	said := time.Now()
	for {
		over := h.Ended() // before the look: what was written till then is seen by it
		if s.root == nil {
			root, err := os.OpenRoot(h.Record())
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			s.root = root
		}
		n, err := s.live()
		if over != nil && err == nil {
			if err = s.rest(); err == nil {
				err = s.w.frame(frame{Over: over}, nil)
			}
		}
		if n == 0 && over == nil && time.Since(said) > aliveEvery && err == nil {
			n, err = 1, s.w.frame(frame{Alive: true}, nil)
		}
		if n > 0 {
			said = time.Now()
		}
		if err = errors.Join(err, s.w.w.Flush()); err != nil || over != nil {
			return err
		}
		time.Sleep(lookEvery)
	}
}

// live sends what is new of the files that are followed.
func (s *sender) live() (frames int, err error) {
	n, err := s.send(logFile, func() (*os.File, error) { return os.Open(s.log) }, false)
	if err != nil || s.root == nil {
		return n, err
	}
	for _, name := range []string{record.RunFile, record.TrialsFile} {
		k, err := s.send(name, func() (*os.File, error) { return s.root.Open(name) }, name == record.RunFile)
		if n += k; err != nil {
			return n, err
		}
	}
	return n, nil
}

// rest sends all other files, and of each what it should be.
func (s *sender) rest() error {
	if s.root == nil {
		return nil
	}
	all, err := files(s.root)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if _, err := s.send(name, func() (*os.File, error) { return s.root.Open(name) }, false); err != nil {
			return err
		}
		size := s.sent[name].size
		digest, err := sum(s.root, name, size)
		if err != nil {
			return err
		}
		if err := s.w.frame(frame{File: name, Sum: digest, At: size}, nil); err != nil {
			return err
		}
	}
	return nil
}

// send sends what is new of one file: what was added, or all of it where it is
// another file, or one that is written anew each time.
func (s *sender) send(name string, open func() (*os.File, error), anew bool) (frames int, err error) {
	f, err := open()
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	was, known := s.sent[name]
	if !known {
		was.size = s.agreed(f, s.have[name], info.Size())
	} else if !os.SameFile(was.info, info) || info.Size() < was.size {
		was.size = 0
	}
	if known && os.SameFile(was.info, info) && info.Size() == was.size && info.ModTime().Equal(was.info.ModTime()) {
		return 0, nil
	}
	if known && anew {
		was.size = 0
	}
	frame := frame{File: name, At: was.size, Size: info.Size() - was.size, Anew: was.size == 0}
	s.sent[name] = sentFile{info, info.Size()}
	if frame.Size == 0 && !frame.Anew {
		return 0, nil
	}
	return 1, s.w.frame(frame, io.NewSectionReader(f, was.size, frame.Size))
}

// agreed is how much of a file the receiver has as it is here.
func (s *sender) agreed(f *os.File, have have, size int64) int64 {
	if have.Size == 0 || have.Size > size {
		return 0
	}
	if got, err := digest(io.NewSectionReader(f, 0, have.Size)); err != nil || got != have.Sum {
		return 0
	}
	return have.Size
}
