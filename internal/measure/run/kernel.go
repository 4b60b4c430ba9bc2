package run

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"plimsoll/internal/common/safepath"
)

// A kernel setting that is changed for a while is noted first, with its old
// value, so that a kill does not leave it changed: Clean and the next change
// put it back.

// changedSetting is the note.
type changedSetting struct {
	Path string `json:"path"`
	Old  string `json:"old"`
}

func (s State) note() string { return filepath.Join(s.Dir, "kernel-setting.json") }

// SetKernel writes a value into a file below /sys or /proc/sys and gives what
// puts the old one back. One setting can be changed at a time.
func (s State) SetKernel(path, value string) (undo func() error, err error) {
	if err := s.RestoreKernel(); err != nil {
		return nil, err
	}
	old, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("changing a kernel setting: %w", err)
	}
	b, err := json.Marshal(changedSetting{path, strings.TrimSpace(string(old))})
	if err != nil {
		return nil, err
	}
	home, err := s.home()
	if err != nil {
		return nil, fmt.Errorf("noting a kernel setting: %w", err)
	}
	defer home.Close()
	if err := home.WriteFile(filepath.Base(s.note()), append(b, '\n'), 0o600); err != nil {
		return nil, fmt.Errorf("noting a kernel setting: %w", err)
	}
	if err := os.WriteFile(path, []byte(value), 0); err != nil {
		return nil, errors.Join(fmt.Errorf("changing a kernel setting: %w", err), os.Remove(s.note()))
	}
	return s.RestoreKernel, nil
}

// RestoreKernel puts back what SetKernel changed; it does nothing where
// nothing is changed.
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
	var c changedSetting
	if err == nil {
		err = json.Unmarshal(b, &c)
	}
	if err == nil && !strings.HasPrefix(filepath.Clean(c.Path), "/sys/") && !strings.HasPrefix(filepath.Clean(c.Path), "/proc/sys/") {
		err = fmt.Errorf("%q is no kernel setting", c.Path)
	}
	if err == nil {
		err = os.WriteFile(c.Path, []byte(c.Old), 0)
	}
	if err != nil {
		return fmt.Errorf("putting a kernel setting back, as %s notes it: %w", s.note(), err)
	}
	return os.Remove(s.note())
}
