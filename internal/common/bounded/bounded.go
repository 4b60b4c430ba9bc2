// Package bounded reads what somebody else has written into memory, and no more of it
// than it may be.
//
// It is opinionated: what is too long is no shorter thing, but an error, in the words of
// whoever knows what it should have been.
package bounded

import (
	"errors"
	"io"
)

// Read reads all that there is. If that is more than most bytes, the error is tooLong.
func Read(r io.Reader, most int64, tooLong string) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, most+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > most {
		return nil, errors.New(tooLong)
	}
	return data, nil
}
