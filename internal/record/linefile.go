package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"plimsoll/internal/common/safepath"
)

var errNoSeq = errors.New(`it has no "seq"`)

// lineFile is a file of JSON lines that is only ever appended to, each line
// by a single write. Its owner holds the directory's lock, so that the end of
// the file is where we left it.
type lineFile struct {
	f   *os.File
	end int64
	buf []byte
}

// openLines opens or creates the file, shows each whole line to see, and cuts
// a torn last line off.
func openLines(home *safepath.Dir, name string, see func(line []byte) error) (*lineFile, error) {
	f, err := home.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("opening the run's records: %w", err)
	}
	l := &lineFile{f: f}
	sc := newLineScanner(f, f.Name())
	for sc.next() {
		if err := see(sc.line); err != nil {
			f.Close()
			return nil, sc.damage(err)
		}
	}
	if sc.err != nil {
		f.Close()
		return nil, sc.err
	}
	l.end = sc.offset
	if err := l.repair(sc); err != nil {
		f.Close()
		return nil, err
	}
	return l, nil
}

// repair cuts a torn end off, or adds the newline that alone is missing.
func (l *lineFile) repair(sc *lineScanner) error {
	if sc.unterminated {
		if _, err := l.f.WriteAt([]byte{'\n'}, l.end); err != nil {
			return fmt.Errorf("ending the last line of %s: %w", l.f.Name(), err)
		}
		l.end++
	}
	if len(sc.torn) == 0 {
		return nil
	}
	if err := l.f.Truncate(l.end); err != nil {
		return fmt.Errorf("cutting off the torn last line of %s: %w", l.f.Name(), err)
	}
	return nil
}

// append writes one line. When the disk refuses a part of it, the part that
// was written is taken back, so that a later line does not stick to it.
func (l *lineFile) append(line []byte, sync bool) error {
	if l == nil {
		return os.ErrClosed
	}
	l.buf = append(append(l.buf[:0], line...), '\n')
	n, err := l.f.WriteAt(l.buf, l.end)
	if err != nil {
		if n > 0 {
			err = errors.Join(err, l.f.Truncate(l.end))
		}
		return err
	}
	l.end += int64(n)
	if sync {
		return l.f.Sync()
	}
	return nil
}

func (l *lineFile) close() error {
	return errors.Join(l.f.Sync(), l.f.Close())
}

// isWhole says whether the unterminated end of a file is nevertheless a whole
// record: only its newline is missing. A part of a JSON object is never valid
// JSON, so this cannot take a torn line for a whole one.
func isWhole(tail []byte) bool {
	return bytes.HasPrefix(tail, []byte("{")) && json.Valid(tail)
}
