package run

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/internal/common/filelock"
	"plimsoll/internal/common/safepath"
	"plimsoll/internal/measure/tune"
)

// What of the machine is changed for a while is noted first, with its old value, so
// that a kill does not leave it changed: the guard puts it back, or where that was
// killed, too, Clean and the next run.

// noteFile is the note, in the state directory.
const noteFile = "kernel-setting.json"

// maxNote bounds a note, bytes: thousands of files.
const maxNote = 1 << 20

// kernelNote is what may have been changed, and where.
type kernelNote struct {
	origin
	// By tells the notes of one state directory apart: a guard is of one of them.
	By      string        `json:"by,omitempty"`
	Changes []tune.Change `json:"changes"`
}

func (s State) note() string { return filepath.Join(s.Dir, noteFile) }

// SetKernel writes a value into a file below /sys or /proc/sys and gives what
// puts the old one back.
func (s State) SetKernel(path, value string) (undo func() error, err error) {
	c, err := tune.Machine{}.File(path, value)
	if err != nil {
		return nil, fmt.Errorf("changing a kernel setting: %w", err)
	}
	by, err := s.noteKernel([]tune.Change{c})
	if err != nil {
		return nil, err
	}
	g, _ := s.startGuard(by) // without one, Clean and the next run put it back after a kill
	undo = func() error { return errors.Join(s.RestoreKernel(), g.dismiss()) }
	if err := (tune.Machine{}).Set(c); err != nil {
		return nil, errors.Join(err, undo())
	}
	return undo, nil
}

// noteKernel notes all that may be changed from now on, and says by what name. What an
// earlier note names is put back before.
func (s State) noteKernel(changes []tune.Change) (by string, err error) {
	if err := s.RestoreKernel(); err != nil {
		return "", err
	}
	home, err := s.home()
	if err != nil {
		return "", fmt.Errorf("noting a kernel setting: %w", err)
	}
	defer home.Close()
	n := kernelNote{here(), rand.Text(), changes}
	if err := writeNote(home, n); err != nil {
		return "", fmt.Errorf("noting a kernel setting: %w", err)
	}
	return n.By, nil
}

func writeNote(home *safepath.Dir, n kernelNote) error {
	// It would not be believed where others could have laid it.
	if err := home.Closed(); err != nil {
		return err
	}
	f, old, err := takeNote(home)
	switch {
	case err == nil:
		f.Close()
		return fmt.Errorf("%s names what the host %s has changed: run plimsoll clean there, or remove it if that host no longer exists", filepath.Join(home.Path(), noteFile), old.Host)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	b, err := json.Marshal(n)
	if err != nil {
		return err
	}
	return home.WriteFile(noteFile, append(b, '\n'), 0o600)
}

// notePatience is how long another process may take to put back what a note names.
const notePatience = 20 * time.Second

// takeNote opens the note and keeps all others from it that put back what it names,
// until it is closed: a guard and the run that comes next do so at the same time, and
// the slower one would undo what that run has set by then. Where the file system has no
// locks, nobody is kept from it.
func takeNote(home *safepath.Dir) (*os.File, kernelNote, error) {
	patience, cancel := context.WithTimeout(context.Background(), notePatience)
	defer cancel()
	for {
		f, err := home.OpenFile(noteFile, os.O_RDONLY, 0)
		if err != nil {
			return nil, kernelNote{}, err
		}
		var n kernelNote
		gone := false
		if errors.Is(filelock.Wait(patience, f, filelock.TryLock), context.DeadlineExceeded) {
			err = fmt.Errorf("another process has had %s locked for %v", f.Name(), notePatience)
		} else {
			n, gone, err = readNote(home, f)
		}
		if err == nil && !gone {
			return f, n, nil
		}
		f.Close()
		if err != nil {
			return nil, n, err
		}
	}
}

// readNote reads the note, which only we ourselves can have written: root would write
// into the kernel whatever it says. One that was taken away since it was opened is gone.
func readNote(home *safepath.Dir, f *os.File) (n kernelNote, gone bool, err error) {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return n, false, err
	}
	if st.Nlink == 0 {
		return n, true, nil
	}
	if int(st.Uid) != os.Geteuid() || st.Nlink != 1 || st.Mode&0o022 != 0 {
		return n, false, fmt.Errorf("%s may be someone else's (uid %d, mode %04o): nothing is done by it; look into it and remove it", f.Name(), st.Uid, st.Mode&0o7777)
	}
	if err := home.Closed(); err != nil {
		return n, false, err
	}
	b, err := io.ReadAll(io.LimitReader(f, maxNote))
	if err != nil {
		return n, false, err
	}
	if b = bytes.TrimSpace(b); bytes.HasPrefix(b, []byte("[")) { // earlier notes don't say where
		return n, false, json.Unmarshal(b, &n.Changes)
	}
	return n, false, json.Unmarshal(b, &n)
}

// RestoreKernel puts back what is noted and still as we set it; it does nothing
// where nothing is noted. What can't be put back stays noted, as does what another
// machine has noted. A machine that was booted since has forgotten what was set: what
// is so now is its administrator's.
func (s State) RestoreKernel() error { return s.restoreKernel("") }

// restoreKernel does so for one note alone; "" is whichever is there.
func (s State) restoreKernel(by string) error {
	home, err := safepath.Open(s.Dir, safepath.Caller(os.Getenv))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("putting a kernel setting back: %w", err)
	}
	defer home.Close()
	f, n, err := takeNote(home)
	if err == nil {
		defer f.Close()
	}
	now := here()
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && (n.foreign(now) || by != "" && n.By != by):
		return nil
	case err == nil && !n.booted(now):
		err = putBack(n.Changes)
	}
	if err != nil {
		return fmt.Errorf("putting a kernel setting back, as %s notes it: %w", s.note(), err)
	}
	return home.Remove(noteFile)
}

func putBack(changes []tune.Change) error {
	var errs []error
	for _, c := range slices.Backward(changes) {
		if !c.Ours() {
			errs = append(errs, fmt.Errorf("%q is not a kernel setting", c.Path))
			continue
		}
		errs = append(errs, tune.Machine{}.Unset(c))
	}
	return errors.Join(errs...)
}
