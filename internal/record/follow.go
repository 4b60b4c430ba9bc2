package record

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"plimsoll/internal/common/filelock"
	"plimsoll/internal/common/safepath"
)

// ErrReplaced says that the file that is followed became shorter: it is another
// one now, and must be read from its start.
var ErrReplaced = errors.New("the trials were replaced by others")

// Follower reads the trials of a run that is still being written: each time
// those that have come since, and nothing else. It holds no file open.
type Follower struct {
	path   string
	offset int64 // behind the last line that was taken
	number int   // of that line
	size   int64
	at     time.Time
	buf    *bufio.Reader
	dec    *decoder
	sums   chain
	seen   bitset
	joined joined // nil until run.json was read
	broken error
}

// Follow begins with the first trial of the run in dir.
func Follow(dir string) *Follower {
	return &Follower{path: filepath.Join(dir, TrialsFile), buf: bufio.NewReaderSize(nil, 64<<10), dec: newDecoder()}
}

// Next calls each for every trial that has come, in their order; a trial is
// valid until the next one. It says whether the file has changed at all, which
// costs one stat where it has not. A line that is not whole yet waits. After
// damage nothing more is read, and the error stays.
func (f *Follower) Next(each func(*Trial)) (changed bool, err error) {
	if f.broken != nil {
		return false, f.broken
	}
	info, err := os.Stat(f.path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && f.offset == 0:
		return false, nil // no trial yet
	case errors.Is(err, fs.ErrNotExist):
		return false, ErrReplaced
	case err != nil:
		return false, fmt.Errorf("following the trials: %w", err)
	case !info.Mode().IsRegular():
		return false, fmt.Errorf("following the trials: %s is not a file", f.path)
	case info.Size() < f.offset:
		return false, ErrReplaced
	case info.Size() == f.size && info.ModTime().Equal(f.at):
		return false, nil
	}
	if err := f.read(info.Size(), each); err != nil {
		return true, err
	}
	f.size, f.at = info.Size(), info.ModTime()
	return true, nil
}

func (f *Follower) read(size int64, each func(*Trial)) error {
	file, err := safepath.OpenRegular(f.path)
	if err != nil {
		return fmt.Errorf("following the trials: %w", err)
	}
	defer file.Close()
	f.buf.Reset(io.NewSectionReader(file, f.offset, size-f.offset))
	if f.joined == nil {
		if run, err := readRun(filepath.Dir(f.path)); err == nil { // else nobody knows the environments
			f.joined = run.joined()
		}
	}
	sc := &lineScanner{r: f.buf, path: f.path, number: f.number, offset: f.offset}
	for sc.next() {
		var t Trial
		line, err := f.sums.take(sc.line)
		if err == nil {
			err = f.dec.decode(line, &t)
		}
		if err == nil && !f.seen.add(t.Seq) {
			err = errTwice(t.Seq)
		}
		if err != nil {
			f.broken = sc.damage(err)
			return f.broken
		}
		f.offset, f.number = sc.offset, sc.number
		f.joined.part(&t)
		each(&t)
	}
	return sc.err
}

// BeingWritten says whether a process writes the run in dir at this moment. A
// run that says that it is running and that nobody writes was killed.
func BeingWritten(dir string) (bool, error) {
	f, err := safepath.OpenRegular(filepath.Join(dir, lockFile))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("asking whether the run is being written: %w", err)
	}
	defer f.Close()
	// For an instant this is a lock itself: a writer that comes just then tries
	// again (see lockedWriter).
	switch err := filelock.TryLook(f); {
	case errors.Is(err, filelock.ErrLocked):
		return true, nil
	case err != nil:
		return false, fmt.Errorf("asking whether %s is being written: %w", dir, err)
	}
	return false, nil
}
