package safepath

import (
	"fmt"
	"io"
	"io/fs"
	"os"
)

// OpenRegular opens a file for reading, as os.Open does, but never waits for
// what is none: a named pipe without a writer would hold its reader for ever.
// ErrNotRegular says that it is something else.
func OpenRegular(path string) (*os.File, error) {
	return regular(path, os.O_RDONLY, os.Stat, os.OpenFile)
}

// regular opens a file in some way. Opening a device can do things by itself; so it
// is looked at before, and again when it can't become something else any more.
func regular(path string, flag int, stat func(string) (fs.FileInfo, error), open func(string, int, fs.FileMode) (*os.File, error)) (*os.File, error) {
	info, err := stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, notRegular("open", path, info.Mode())
	}
	f, err := open(path, flag|nonblock, 0)
	if err != nil {
		return nil, err
	}
	return onlyRegular(f)
}

// ReadRegular is os.ReadFile by OpenRegular.
func ReadRegular(path string) ([]byte, error) {
	f, err := OpenRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// OpenIn opens a file of a root for reading, in the same way.
func OpenIn(root *os.Root, name string) (*os.File, error) {
	return regular(name, os.O_RDONLY, root.Stat, root.OpenFile)
}

func onlyRegular(f *os.File) (*os.File, error) {
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
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
