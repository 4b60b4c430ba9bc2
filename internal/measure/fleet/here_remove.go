package fleet

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"plimsoll/internal/common/safepath"
	"plimsoll/internal/measure/host/proc"
)

// owned says whether a file is ours.
func owned(info os.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}

// MakeState makes the state's directory: a new one, or the one of this run.
func (h *Here) MakeState() error {
	dir := h.State()
	if os.Mkdir(dir, 0o755) != nil {
		return h.ourState()
	}
	err := os.Chmod(dir, 0o755) // the umask may have closed it to the users of rootless engines
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, ledgerName), []byte(h.ID()+"\n"), 0o600)
	}
	if err != nil { // without its ledger nobody could tell later whose it is
		_ = safepath.RemoveAll(dir) // it was made just now
	}
	return err
}

// ourState says whether the state's directory is this run's.
func (h *Here) ourState() error {
	dir := h.State()
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	id, err := safepath.ReadRegular(filepath.Join(dir, ledgerName), 4<<10, "the id of a run")
	if err != nil || !info.IsDir() || !owned(info) || strings.TrimSpace(string(id)) != h.ID() {
		return fmt.Errorf("%s is not of the run %s", dir, h.ID())
	}
	return nil
}

// Fetched writes down that the record is where it belongs.
func (h *Here) Fetched() error { return os.WriteFile(h.path(fetchedName), nil, 0o600) }

// Unfetched says whether there is a record that nobody has fetched yet, and whose
// it is.
func (h *Here) Unfetched() (whose string, is bool) {
	if _, err := os.Lstat(h.path(fetchedName)); err == nil {
		return "", false
	}
	if entries, err := os.ReadDir(h.Record()); err != nil || len(entries) == 0 {
		return "", false
	}
	if q, err := h.Request(); err == nil {
		whose = q.For
	}
	return whose, true
}

// Remove takes everything of the run away, its program too. What the run has left
// in engines must have been cleaned up before; where something is mounted below
// our folders, they stay.
func (h *Here) Remove() error {
	if pid := h.Process(); pid > 0 {
		return fmt.Errorf("the run goes on, as process %d", pid)
	}
	if err := h.ourState(); err == nil {
		if err := removeTree(h.State()); err != nil {
			return err
		}
	} else if !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := removeTree(h.Dir); err != nil {
		return err
	}
	// Of the folders above, those that are empty now; who has something in one
	// keeps it.
	runs := filepath.Dir(h.Dir)
	if os.Remove(runs) == nil {
		_ = os.Remove(filepath.Dir(runs))
	}
	return nil
}

// removeTree removes a folder below which nothing is mounted. The ledger goes last,
// so that a removal that is cut off can be taken up again.
func removeTree(dir string) error {
	points, err := proc.Here.MountedBelow(dir)
	if err != nil {
		return err
	}
	if len(points) > 0 {
		return fmt.Errorf("something is mounted at %s", strings.Join(points, ", "))
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if e.Name() != ledgerName {
			err = errors.Join(err, root.RemoveAll(e.Name()))
		}
	}
	if err != nil {
		return err
	}
	return safepath.RemoveAll(dir)
}
