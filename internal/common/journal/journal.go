// Package journal appends lines to a file that is read after a crash. A line is there as a
// whole, or it does not touch the next one: a full disk takes the beginning of a line and
// refuses its rest.
package journal

import (
	"errors"
	"io"
	"os"
)

// Append puts a line, without its end, behind the others of a file that is open for
// reading and writing. What a write that failed has left is taken away again; what can't
// be, and what a kill has torn, is ended first. The line is the kernel's when Append
// returns, and not yet the disk's.
func Append(f *os.File, line []byte) error {
	end, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	var text []byte
	if end > 0 {
		last := []byte{0}
		if _, err := f.ReadAt(last, end-1); err != nil {
			return err
		}
		if last[0] != '\n' {
			text = append(text, '\n')
		}
	}
	if _, err := f.Write(append(append(text, line...), '\n')); err != nil {
		return errors.Join(err, f.Truncate(end))
	}
	return nil
}
