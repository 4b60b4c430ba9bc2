package engine

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// markKey is the variable that the processes of a run inherit from the command
// that the run started. Its name begins as a locale's: Podman hands only those on
// to conmon, and no program reads one of an unknown category.
const markKey = "LC_PLIMSOLL"

// markFile holds the variable, in the run's folder.
const markFile = "mark"

// markBytes is the length of the secret, as many as nobody guesses.
const markBytes = 16

// Mark returns the variable "K=V" that the processes of a run inherit. Its value
// holds a random secret, which is kept in the run's folder with mode 0600. It is
// made where it is missing. The error names the file.
func Mark(dir, runID string) (string, error) {
	file := filepath.Join(dir, markFile)
	begin := markKey + "=" + runID + "/"
	fd, err := unix.Open(file, unix.O_RDWR|unix.O_CREAT|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return "", fmt.Errorf("opening the mark of the run's processes: %w", &os.PathError{Op: "open", Path: file, Err: err})
	}
	f := os.NewFile(uintptr(fd), file)
	defer f.Close()
	fi, err := f.Stat()
	if err == nil && (!fi.Mode().IsRegular() || fi.Mode().Perm()&0o077 != 0) {
		err = fmt.Errorf("%s: expected a regular file with mode 0600", file)
	}
	if err != nil {
		return "", err
	}
	text := make([]byte, len(begin)+hex.EncodedLen(markBytes)+1)
	n, _ := f.ReadAt(text, 0) // a short one is torn: nothing was started with it
	if n == len(text)-1 && strings.HasPrefix(string(text), begin) {
		return string(text[:n]), nil
	}
	secret := make([]byte, markBytes)
	_, _ = rand.Read(secret) // never fails: the Go runtime ends the program instead
	mark := begin + hex.EncodeToString(secret)
	_, err = f.WriteAt([]byte(mark), 0)
	return mark, errors.Join(f.Truncate(int64(len(mark))), err)
}
