package fleet

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"plimsoll/internal/common/filelock"
	"plimsoll/internal/common/safepath"
	"plimsoll/internal/record"
)

// LedgerFile is the account of a run of several hosts, beside their records.
const LedgerFile = record.HostsFile

// Account is what was begun on which hosts.
type Account struct {
	Format int `json:"plimsoll-hosts"`
	// Args are those of plimsoll run, as each host gets them.
	Args []string `json:"args"`
	// Study are the files of a study that is no bundled one, by their paths below
	// its folder.
	Study map[string][]byte `json:"study,omitempty"`
	Hosts []HostAccount     `json:"hosts"`
}

// HostAccount is how far a host has come.
type HostAccount struct {
	Target
	ID string `json:"run"` // of the run there
	// Brought: something of ours is there.
	Brought bool `json:"brought,omitempty"`
	// Begun: the run was started there.
	Begun bool `json:"begun,omitempty"`
}

// Ledger is the account in the folder of the records; it is locked as long as it
// is open.
type Ledger struct {
	Dir string
	Account
	dir  *safepath.Dir
	lock *os.File
}

// errFollowed says that another plimsoll follows these runs.
var errFollowed = errors.New("another plimsoll follows these runs: end it by Ctrl-C (which ends the runs) or SIGHUP (which lets them go on), or wait for it")

// Kept says whether a directory has such an account.
func Kept(dir string) bool {
	fi, err := os.Lstat(filepath.Join(dir, LedgerFile))
	return err == nil && fi.Mode().IsRegular()
}

// mostOfLedger bounds a file of a run on several hosts, in bytes.
const mostOfLedger = 16 << 20

// OpenLedger opens the account in a directory, which is made where it is not there. It
// may belong to the trusted users, by number.
func OpenLedger(dir string, trusted ...int) (l *Ledger, err error) {
	rule := safepath.Caller(os.Getenv).With(trusted...)
	l = &Ledger{Dir: dir}
	if l.dir, err = safepath.Make(dir, 0o755, rule); err != nil {
		return nil, fmt.Errorf("opening the records' directory: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, l.Close())
		}
	}()
	if err = l.dir.Closed(); err != nil { // what hosts send is written there
		return l, fmt.Errorf("opening the records' directory: %w", err)
	}
	if l.lock, err = l.dir.OpenFile(".hosts.lock", os.O_RDWR|os.O_CREATE, 0o644); err != nil {
		return l, err
	}
	if err = filelock.TryLock(l.lock); errors.Is(err, filelock.ErrLocked) {
		return l, errFollowed
	}
	data, err := l.dir.ReadFile(LedgerFile, mostOfLedger, "the ledger of a run on several hosts")
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &l.Account)
	}
	if err == nil {
		err = l.check()
	}
	if err != nil {
		return l, fmt.Errorf("reading %s: %w", filepath.Join(dir, LedgerFile), err)
	}
	return l, nil
}

// HostRecord makes the folder of a host's record, where it is not there.
func (l *Ledger) HostRecord(name string) error {
	d, err := l.dir.MakeSub(name, 0o755)
	if err != nil {
		return err
	}
	return d.Close()
}

// HostLog opens a file beside the records for what is printed on a host.
func (l *Ledger) HostLog(name string) (*os.File, error) {
	return l.dir.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
}

// check refuses what could lead elsewhere: the account may have been written by
// somebody else.
func (l *Ledger) check() error {
	if l.Format != 1 {
		return fmt.Errorf("its format is %d, and this program knows 1", l.Format)
	}
	var all []Target
	for _, h := range l.Hosts {
		t, err := parseTarget(h.Target.String())
		if err != nil {
			return err
		}
		if !isID(h.ID) || t.Host != h.Host || !isWord(h.Name, "._-") || h.Name[0] == '.' {
			return fmt.Errorf("%q is not a host of a run", h.Name)
		}
		all = append(all, h.Target)
	}
	return distinct(all)
}

func isID(s string) bool { return len(s) == 8 && isWord(s, "") }

// Write writes the account as it is now.
func (l *Ledger) Write() error {
	l.Format = 1
	data, err := json.MarshalIndent(&l.Account, "", "  ")
	if err == nil {
		err = l.dir.WriteFile(LedgerFile, append(data, '\n'), 0o644)
	}
	if err != nil {
		return fmt.Errorf("writing the account of the hosts: %w", err)
	}
	return nil
}

// Close lets go of the account.
func (l *Ledger) Close() error {
	var err error
	if l.lock != nil {
		err = l.lock.Close()
	}
	return errors.Join(err, l.dir.Close())
}
