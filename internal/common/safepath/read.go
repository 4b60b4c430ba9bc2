package safepath

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"syscall"
)

// ErrInterrupted is that SIGINT or SIGTERM came while a pipe was read.
var ErrInterrupted = errors.New("interrupted while reading")

// ReadRegular returns the content of a regular file. Anything else is ErrNotRegular, and
// a file of more than limit bytes an error that says what the file should be: expected,
// such as "a feature table".
func ReadRegular(path string, limit int64, expected string) ([]byte, error) {
	return readAndClose(limit, expected)(OpenRegular(path))
}

// ReadIn is ReadRegular for a file of a root.
func ReadIn(root *os.Root, name string, limit int64, expected string) ([]byte, error) {
	return readAndClose(limit, expected)(OpenIn(root, name))
}

// ReadGiven is ReadRegular for a file that a user names as an argument: that may also be
// a pipe, as a shell makes for <(command) and "command | plimsoll … /dev/stdin". A pipe
// is read to its end, to its limit or to SIGINT or SIGTERM (ErrInterrupted), even where
// the program has its own use for these signals. A pipe without a writer is an error.
func ReadGiven(path string, limit int64, expected string) ([]byte, error) {
	f, err := openOnly(path, os.O_RDONLY, fs.ModeNamedPipe, os.Stat, os.OpenFile)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil || info.Mode().IsRegular() {
		return readAndClose(limit, expected)(f, err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	type content struct {
		data []byte
		err  error
	}
	done := make(chan content, 1)
	go func() { // outlives an interrupted read, until the program ends
		data, err := readAndClose(limit, expected)(f, waitForWriter(f))
		done <- content{data, err}
	}()
	select {
	case <-ctx.Done():
		return nil, &fs.PathError{Op: "read", Path: path, Err: ErrInterrupted}
	case c := <-done:
		if c.err == nil && len(c.data) == 0 {
			c.err = &fs.PathError{Op: "read", Path: path, Err: errors.New("a pipe from which nothing came: expected " + expected)}
		}
		return c.data, c.err
	}
}

// readAndClose returns a function that reads an open file to its end, closes it, and
// returns an error without reading where the file has more than limit bytes.
func readAndClose(limit int64, expected string) func(*os.File, error) ([]byte, error) {
	return func(f *os.File, err error) ([]byte, error) {
		if err != nil {
			if f != nil {
				f.Close()
			}
			return nil, err
		}
		defer f.Close()
		long := &fs.PathError{Op: "read", Path: f.Name(), Err: fmt.Errorf("more than %s: expected %s", bytesIn(limit), expected)}
		info, err := f.Stat()
		switch {
		case err != nil:
			return nil, err
		case info.Size() > limit:
			return nil, long
		}
		// With room for all of it from the start nothing is copied, and a large file takes
		// no more memory than it has bytes.
		data := bytes.NewBuffer(make([]byte, 0, info.Size()+bytes.MinRead))
		switch n, err := data.ReadFrom(io.LimitReader(f, limit+1)); {
		case err != nil:
			return nil, err
		case n > limit:
			return nil, long
		}
		return data.Bytes(), nil
	}
}

func bytesIn(n int64) string {
	if n >= 1<<20 {
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d bytes", n)
}
