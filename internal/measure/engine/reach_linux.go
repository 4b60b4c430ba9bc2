package engine

import (
	"fmt"
	"path/filepath"

	"golang.org/x/sys/unix"

	"plimsoll/internal/measure/engine/thread"
	"plimsoll/internal/record"
)

// reaches is an error where the user can't read a file or a directory. The
// kernel is asked with that one's rights, since modes alone do not tell.
func (u *User) reaches(path string) error {
	return thread.As(u.UID, u.GID, u.Groups, func() error {
		err := unix.Access(path, unix.R_OK)
		if err == nil {
			return nil
		}
		closed := path
		for p := filepath.Dir(path); ; p = filepath.Dir(p) {
			if unix.Access(p, unix.X_OK) != nil {
				closed = p // the outermost is the last
			}
			if p == filepath.Dir(p) {
				break
			}
		}
		return &Error{Class: record.Unavailable, Err: err, Fix: "choose a state directory below /var/lib",
			Text: fmt.Sprintf("the user %s can't reach the images: %s is closed to that user", u.Name, closed)}
	})
}
