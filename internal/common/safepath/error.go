package safepath

import "errors"

// UnsafeError says that a path was not used since somebody else could have
// laid it, or could change it.
type UnsafeError struct {
	Path string // what was to be used
	At   string // the component that is not safe
	Why  string // what is wrong with it: "belongs to alice (uid 1001)"
	Fix  string // what would help
	UID  int    // whose it is; -1 where that is not the point
}

func (e *UnsafeError) Error() string {
	s := e.At + " " + e.Why
	if e.At != e.Path {
		s = e.Path + " is not safe to use as root: " + s
	}
	if e.Fix != "" {
		s += "; " + e.Fix
	}
	return s
}

// ErrNotRegular says that something else than a file lies where a file is read
// or written: a pipe, a device, a socket, a directory.
var ErrNotRegular = errors.New("it is not a regular file")

// ErrMounted says that something is mounted in a tree that is to be removed.
var ErrMounted = errors.New("something is mounted there")
