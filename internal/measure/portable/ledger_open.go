package portable

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"plimsoll/internal/common/filelock"
	"plimsoll/internal/common/journal"
	"plimsoll/internal/common/safepath"
)

// NewLedger begins a run's ledger in a folder, which is made.
func NewLedger(dir, runID string) (*Ledger, error) { return openLedger(dir, runID, os.O_EXCL) }

// ResumeLedger goes on with the ledger of a run that was cut off; where nothing was
// left and it is gone, it begins one.
func ResumeLedger(dir, runID string) (*Ledger, error) {
	l, err := openLedger(dir, runID, 0)
	if err != nil {
		return nil, err
	}
	_, l.left, l.by = readLedger(l.file)
	return l, nil
}

// ledgerTries are how often a ledger is opened that is taken away meanwhile.
const ledgerTries = 5

func openLedger(dir, runID string, flag int) (*Ledger, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("making a place for the ledger: %w", err)
	}
	if err := aloneIn(dir); err != nil {
		return nil, fmt.Errorf("making a place for the ledger: %w", err)
	}
	path := filepath.Join(dir, runID+ledgerSuffix)
	for range ledgerTries {
		f, err := openOne(path, flag)
		if err != nil {
			return nil, fmt.Errorf("beginning the ledger: %w", err)
		}
		if err := alone(f); err != nil {
			return nil, errors.Join(fmt.Errorf("beginning the ledger: %w", err), f.Close())
		}
		if err := filelock.TryLock(f); err != nil {
			if errors.Is(err, filelock.ErrLocked) {
				err = errors.New("another Plimsoll has it, which cleans up after this run or has resumed a copy of its record: try again when that has ended")
			}
			return nil, errors.Join(fmt.Errorf("locking the ledger %s: %w", path, err), f.Close())
		}
		if isAt(f, path) { // else who cleans up has taken it away before it was ours
			return &Ledger{file: f, path: path, by: map[string]reach{}}, nil
		}
		if err := f.Close(); err != nil {
			return nil, fmt.Errorf("beginning the ledger: %w", err)
		}
	}
	return nil, fmt.Errorf("beginning the ledger: %s is a link, or is taken away each time it is opened", path)
}

// aloneIn refuses a folder of ledgers that others may lay something into: what a ledger
// names is removed with the rights and the logins of whoever reads it.
func aloneIn(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	const elsewhere = ", or let PLIMSOLL_STATE name a directory of yours"
	err = believed(dir, info, "chmod go-w "+dir+elsewhere)
	if unsafe, ok := errors.AsType[*safepath.UnsafeError](err); ok && unsafe.UID != os.Geteuid() {
		unsafe.Fix = "run it as the user whose folder it is" + elsewhere // as with sudo, which may keep HOME
	}
	return err
}

// alone refuses a ledger that others may have written.
func alone(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	return believed(f.Name(), info, "look into it, and remove it")
}

func believed(path string, info fs.FileInfo, fix string) error {
	err := safepath.Alone(path, info)
	if unsafe, ok := errors.AsType[*safepath.UnsafeError](err); ok {
		unsafe.Why += ", and what a ledger names is removed with your rights and logins"
		unsafe.Fix = fix
	}
	return err
}

// openOne opens the file that is there, unless flag is O_EXCL, or makes one: never through
// a link that leads nowhere.
func openOne(path string, flag int) (*os.File, error) {
	if flag == 0 {
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if !errors.Is(err, fs.ErrNotExist) {
			return f, err
		}
	}
	return os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
}

// isAt says whether a file that is locked is still the one of this path.
func isAt(f *os.File, path string) bool {
	ours, err := f.Stat()
	if err != nil {
		return false
	}
	now, err := os.Lstat(path) // nor is a link
	return err == nil && os.SameFile(ours, now)
}

// strikeOut notes in the ledger of a dead run what is done with, where something else stays:
// what can't be removed for good is told once.
func strikeOut(f *os.File, all []Cleaned) error {
	for _, c := range all {
		if c.Kept != "" {
			continue
		}
		line, err := json.Marshal(entry{Thing: c.Thing, Gone: true})
		if err == nil {
			err = journal.Append(f, line)
		}
		if err != nil {
			return fmt.Errorf("writing the ledger %s: %w", f.Name(), err)
		}
	}
	return nil
}

// endLedger closes a ledger, and takes one away that is empty: before its lock is let go
// of, so that nobody goes on with a file that is about to go. Windows removes no open
// file, and none that somebody else has opened meanwhile.
func endLedger(f *os.File, path string, empty bool) error {
	gone := empty && os.Remove(path) == nil
	err := f.Close()
	if empty && !gone {
		err = errors.Join(err, os.Remove(path))
	}
	return err
}
