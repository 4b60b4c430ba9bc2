package run

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"plimsoll/internal/common/safepath"
	"plimsoll/internal/measure/tune"
)

// What of the machine is changed for a while is noted first, with its old value, so
// that a kill does not leave it changed: Clean and the next run put it back.

// noteFile is the note, in the state directory.
const noteFile = "kernel-setting.json"

// maxNote bounds a note, bytes: thousands of files.
const maxNote = 1 << 20

// kernelNote is what may have been changed, and where.
type kernelNote struct {
	origin
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
	if err := s.noteKernel([]tune.Change{c}); err != nil {
		return nil, err
	}
	if err := (tune.Machine{}).Set(c); err != nil {
		return nil, errors.Join(err, s.RestoreKernel())
	}
	return s.RestoreKernel, nil
}

// noteKernel notes all that may be changed from now on. What an earlier note names is
// put back before.
func (s State) noteKernel(changes []tune.Change) error {
	if err := s.RestoreKernel(); err != nil {
		return err
	}
	home, err := s.home()
	if err != nil {
		return fmt.Errorf("noting a kernel setting: %w", err)
	}
	defer home.Close()
	if err := writeNote(home, changes); err != nil {
		return fmt.Errorf("noting a kernel setting: %w", err)
	}
	return nil
}

func writeNote(home *safepath.Dir, changes []tune.Change) error {
	// It would not be believed where others could have laid it.
	if err := home.Closed(); err != nil {
		return err
	}
	old, err := readNote(home)
	switch {
	case err == nil:
		return fmt.Errorf("%s names what the host %s has changed: run plimsoll clean there, or remove it where that host is no more", filepath.Join(home.Path(), noteFile), old.Host)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	b, err := json.Marshal(kernelNote{here(), changes})
	if err != nil {
		return err
	}
	return home.WriteFile(noteFile, append(b, '\n'), 0o600)
}

// readNote reads the note, which only we ourselves can have written: root would write
// into the kernel whatever it says.
func readNote(home *safepath.Dir) (n kernelNote, err error) {
	f, err := home.OpenFile(noteFile, os.O_RDONLY, 0)
	if err != nil {
		return n, err
	}
	defer f.Close()
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return n, err
	}
	if int(st.Uid) != os.Geteuid() || st.Nlink != 1 || st.Mode&0o022 != 0 {
		return n, fmt.Errorf("%s may be somebody else's (uid %d, mode %04o): nothing is done by it; look into it and remove it", f.Name(), st.Uid, st.Mode&0o7777)
	}
	if err := home.Closed(); err != nil {
		return n, err
	}
	b, err := io.ReadAll(io.LimitReader(f, maxNote))
	if err != nil {
		return n, err
	}
	if b = bytes.TrimSpace(b); bytes.HasPrefix(b, []byte("[")) { // earlier notes don't say where
		return n, json.Unmarshal(b, &n.Changes)
	}
	return n, json.Unmarshal(b, &n)
}

// RestoreKernel puts back what is noted and still as we set it; it does nothing
// where nothing is noted. What can't be put back stays noted, as does what another
// machine has noted. A machine that was booted since has forgotten what was set: what
// is so now is its administrator's.
func (s State) RestoreKernel() error {
	home, err := safepath.Open(s.Dir, safepath.Caller(os.Getenv))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("putting a kernel setting back: %w", err)
	}
	defer home.Close()
	n, err := readNote(home)
	now := here()
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && n.foreign(now):
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
			errs = append(errs, fmt.Errorf("%q is no kernel setting", c.Path))
			continue
		}
		errs = append(errs, tune.Machine{}.Unset(c))
	}
	return errors.Join(errs...)
}
