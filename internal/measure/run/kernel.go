package run

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"plimsoll/internal/common/safepath"
	"plimsoll/internal/measure/tune"
)

// What of the machine is changed for a while is noted first, with its old value, so
// that a kill does not leave it changed: Clean and the next run put it back.

func (s State) note() string { return filepath.Join(s.Dir, "kernel-setting.json") }

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
	b, err := json.Marshal(changes)
	if err != nil {
		return err
	}
	home, err := s.home()
	if err != nil {
		return fmt.Errorf("noting a kernel setting: %w", err)
	}
	defer home.Close()
	if err := home.WriteFile(filepath.Base(s.note()), append(b, '\n'), 0o600); err != nil {
		return fmt.Errorf("noting a kernel setting: %w", err)
	}
	return nil
}

// RestoreKernel puts back what is noted and still as we set it; it does nothing
// where nothing is noted. What can't be put back stays noted.
func (s State) RestoreKernel() error {
	home, err := safepath.Open(s.Dir, safepath.Caller(os.Getenv))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("putting a kernel setting back: %w", err)
	}
	defer home.Close()
	b, err := home.ReadFile(filepath.Base(s.note()))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var changes []tune.Change
	if err == nil {
		err = json.Unmarshal(b, &changes)
	}
	for _, c := range slices.Backward(changes) {
		if !c.Ours() {
			err = errors.Join(err, fmt.Errorf("%q is no kernel setting", c.Path))
			continue
		}
		err = errors.Join(err, tune.Machine{}.Unset(c))
	}
	if err != nil {
		return fmt.Errorf("putting a kernel setting back, as %s notes it: %w", s.note(), err)
	}
	return os.Remove(s.note())
}
