package canary

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"plimsoll/internal/common/safepath"
	"plimsoll/internal/measure/host/proc"
)

// A flock's ledger is a file of JSON lines, one step each, written before the
// canary is planted. It is called by the process that planted: its PID, when that
// began (ticks after boot, as the kernel writes it) and a number.
const ledgerName = "%d-%s-%d.jsonl"

// ledgerDir is where ledgers lie: where none but their user can write, and from
// one boot to the next, as containers do.
func ledgerDir() (string, error) {
	if os.Geteuid() == 0 {
		return "/var/lib/plimsoll-canaries", nil
	}
	home, err := os.UserHomeDir()
	return filepath.Join(home, ".local/state/plimsoll-canaries"), err
}

// openLedgers opens that directory, and makes it where it is missing.
func openLedgers() (*safepath.Dir, error) {
	path, err := ledgerDir()
	if err != nil {
		return nil, err
	}
	dir, err := safepath.Make(path, 0o700, safepath.Rule{Lasting: true})
	if err != nil {
		return nil, err
	}
	if !dir.OursAlone() {
		return nil, errors.Join(fmt.Errorf("%s is not ours alone", path), dir.Close())
	}
	return dir, nil
}

// newLedger begins the ledger of a flock.
func newLedger(dir *safepath.Dir) (*os.File, error) {
	us, err := proc.Here.Stat(os.Getpid())
	if err != nil {
		return nil, err
	}
	for n := 1; ; n++ {
		f, err := dir.Create(fmt.Sprintf(ledgerName, us.PID, us.StartText(), n), 0o600)
		if !errors.Is(err, os.ErrExist) {
			return f, err
		}
	}
}

// enter writes a step down. A kill loses nothing of it; it isn't synced, as what
// would be lost with the machine is planted for a test only.
func enter(f *os.File, s step) error {
	line, err := json.Marshal(s)
	if err == nil {
		_, err = f.Write(append(line, '\n'))
	}
	return err
}

// sweep takes away what processes that are gone have planted, and nothing else. A
// step that can't be taken stays in its ledger, for the next one.
func sweep(t testing.TB, dir *safepath.Dir) error {
	t.Helper()
	lock, err := dir.OpenFile(".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer lock.Close() // and unlock
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		return err
	}
	entries, err := dir.List()
	if err != nil {
		return err
	}
	for _, e := range entries {
		if pid, ok := abandoned(e.Name()); ok {
			if err := sweepOne(t, dir, e.Name(), pid); err != nil {
				return err
			}
		}
	}
	return nil
}

// abandoned says whether a file is a ledger of a process that is gone, or has
// ended and is not yet reaped.
func abandoned(name string) (pid int, is bool) {
	part := strings.Split(strings.TrimSuffix(name, ".jsonl"), "-")
	if len(part) != 3 || !strings.HasSuffix(name, ".jsonl") {
		return 0, false
	}
	pid, err := strconv.Atoi(part[0])
	if err != nil || pid <= 0 {
		return 0, false
	}
	p, err := proc.Here.Stat(pid)
	return pid, err != nil || p.StartText() != part[1] || p.State == 'Z' || p.State == 'X'
}

func sweepOne(t testing.TB, dir *safepath.Dir, name string, pid int) error {
	t.Helper()
	data, err := dir.ReadFile(name, 16<<20, "the steps of a test")
	if err != nil {
		return err
	}
	var kept []step
	steps := parseSteps(data)
	for _, s := range slices.Backward(steps) {
		ctx, cancel := context.WithTimeout(context.Background(), plantLimit)
		err := s.makeUp(ctx)
		cancel()
		var unreachable unreachableError
		switch {
		case errors.As(err, &unreachable):
			t.Logf("the canary %s of process %d, which is gone, may be there: %v", s.What, pid, err)
			kept = append(kept, s)
		case err != nil:
			t.Errorf("taking the canary %s of process %d, which is gone, away: %v", s.What, pid, err)
			kept = append(kept, s)
		}
	}
	t.Logf("took away %d of %d canaries of process %d, which was killed", len(steps)-len(kept), len(steps), pid)
	if len(kept) == 0 {
		return dir.Remove(name)
	}
	slices.Reverse(kept)
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	for _, s := range kept {
		if err := enc.Encode(s); err != nil {
			return err
		}
	}
	return dir.WriteFile(name, text.Bytes(), 0o600)
}

// parseSteps reads a ledger. A line that a kill has torn is of a canary that was
// not yet planted.
func parseSteps(data []byte) []step {
	var steps []step
	for line := range bytes.Lines(data) {
		var s step
		if json.Unmarshal(line, &s) == nil {
			steps = append(steps, s)
		}
	}
	return steps
}
