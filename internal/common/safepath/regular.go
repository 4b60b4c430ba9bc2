package safepath

import (
	"fmt"
	"io/fs"
	"os"
)

// OpenRegular opens a file for reading, as os.Open does, but never waits for
// what is none: a named pipe without a writer would hold its reader for ever.
// ErrNotRegular says that it is something else.
func OpenRegular(path string) (*os.File, error) {
	return openOnly(path, os.O_RDONLY, 0, os.Stat, os.OpenFile)
}

// OpenIn opens a file of a root for reading, in the same way.
func OpenIn(root *os.Root, name string) (*os.File, error) {
	return openOnly(name, os.O_RDONLY, 0, root.Stat, root.OpenFile)
}

// openOnly opens a regular file, or one of the type also. Opening a device
// can do things by itself; so the type is checked before, and again on the open file,
// which can't be replaced by another.
func openOnly(path string, flag int, also fs.FileMode, stat func(string) (fs.FileInfo, error), open func(string, int, fs.FileMode) (*os.File, error)) (*os.File, error) {
	info, err := stat(path)
	if err != nil {
		return nil, err
	}
	if !isOnly(info.Mode(), also) {
		return nil, notRegular("open", path, info.Mode())
	}
	f, err := open(path, flag|nonblock, 0)
	if err != nil {
		return nil, err
	}
	return only(f, also)
}

func isOnly(mode, also fs.FileMode) bool {
	return mode.IsRegular() || also != 0 && mode.Type() == also
}

// only closes a file that is neither regular nor of the type also, and returns an error.
func only(f *os.File, also fs.FileMode) (*os.File, error) {
	info, err := f.Stat()
	if err == nil && !isOnly(info.Mode(), also) {
		err = notRegular("open", f.Name(), info.Mode())
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func notRegular(op, path string, mode fs.FileMode) error {
	what := "something else"
	switch {
	case mode.IsDir():
		what = "a directory"
	case mode&fs.ModeNamedPipe != 0:
		what = "a named pipe"
	case mode&fs.ModeSocket != 0:
		what = "a socket"
	case mode&fs.ModeDevice != 0:
		what = "a device"
	case mode&fs.ModeSymlink != 0:
		what = "a symbolic link"
	}
	return &fs.PathError{Op: op, Path: path, Err: fmt.Errorf("%w but %s", ErrNotRegular, what)}
}
