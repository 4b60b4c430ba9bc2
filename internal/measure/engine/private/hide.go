package private

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// madeAt is a directory of the host that was made only so that another can be
// seen in its place.
type madeAt struct {
	Path string `json:"path"`
	// Stage is where it was made, with the run's id in its name. Only then is
	// it brought to Path, when the note has its inode.
	Stage string `json:"stage"`
	ID    inode  `json:"id,omitzero"`
}

// remove takes the directory away where it is the one that was made, and empty.
func (m madeAt) remove() {
	_ = unix.Rmdir(m.Stage) // it is seldom there
	var st unix.Stat_t
	if m.ID.Ino != 0 && unix.Lstat(m.Path, &st) == nil && inodeOf(&st) == m.ID {
		_ = unix.Rmdir(m.Path) // fails where somebody uses it by now
	}
}

// hide makes the directories that stand in for hidden ones.
func (d *Daemon) hide() (map[string]string, error) {
	hidden := map[string]string{}
	for _, target := range d.opts.Hide {
		source := filepath.Join(d.Dir, "hidden", strings.ReplaceAll(strings.Trim(target, "/"), "/", "-"))
		if err := os.MkdirAll(source, 0o711); err != nil {
			return nil, err
		}
		if _, err := os.Lstat(target); errors.Is(err, os.ErrNotExist) {
			if err := d.makeTarget(target); err != nil {
				return nil, fmt.Errorf("making %s, to hide it: %w", target, err)
			}
		}
		hidden[target] = source
	}
	return hidden, nil
}

// makeTarget makes a directory of the host. One that somebody else has made
// meanwhile is as good, and stays.
func (d *Daemon) makeTarget(target string) error {
	stage := filepath.Join(filepath.Dir(target), fmt.Sprintf(".plimsoll-%s-%s-%s", d.note.Run, d.note.Name, filepath.Base(target)))
	d.note.Made = append(d.note.Made, madeAt{Path: target, Stage: stage})
	m := &d.note.Made[len(d.note.Made)-1]
	if err := d.note.write(d.Dir); err != nil {
		return err
	}
	if err := os.Mkdir(stage, 0o711); err != nil {
		return err
	}
	var st unix.Stat_t
	if err := unix.Lstat(stage, &st); err != nil {
		return err
	}
	m.ID = inodeOf(&st)
	if err := d.note.write(d.Dir); err != nil {
		return err
	}
	err := unix.Renameat2(unix.AT_FDCWD, stage, unix.AT_FDCWD, target, unix.RENAME_NOREPLACE)
	if errors.Is(err, unix.EEXIST) {
		return unix.Rmdir(stage)
	}
	return err
}
