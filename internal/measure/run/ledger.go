package run

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"

	"golang.org/x/sys/unix"

	"plimsoll/internal/common/journal"
	"plimsoll/internal/measure/engine"
)

// Ledger is the append-only account of what a run makes on the machine. An
// entry is in the kernel's hands before Made returns: it survives the death
// of this process, though not of the machine, and what it lists would not
// survive that either, but for files and images, which carry our label too.
type Ledger struct {
	mu   sync.Mutex
	file *os.File
	left []engine.Thing
}

var _ engine.Ledger = (*Ledger)(nil)

// entry is one line of the ledger.
type entry struct {
	Op string `json:"op"` // "made" or "gone"
	engine.Thing
}

// ledgerFile is the ledger in a run's folder.
const ledgerFile = "ledger.jsonl"

// OpenLedger opens the ledger at path with what it lists, or begins it. A link
// in its place is refused.
func OpenLedger(path string) (*Ledger, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_RDWR|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the ledger: %w", err)
	}
	if fi, err := f.Stat(); err != nil || !fi.Mode().IsRegular() {
		return nil, errors.Join(fmt.Errorf("opening the ledger: %s is not a regular file", path), err, f.Close())
	}
	left, err := readLedger(f)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &Ledger{file: f, left: left}, nil
}

func (l *Ledger) Made(t engine.Thing) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.write(entry{"made", t}); err != nil {
		return err
	}
	if !slices.Contains(l.left, t) {
		l.left = append(l.left, t)
	}
	return nil
}

func (l *Ledger) Gone(t engine.Thing) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.Index(l.left, t)
	if i < 0 {
		return nil
	}
	if err := l.write(entry{"gone", t}); err != nil {
		return err
	}
	l.left = slices.Delete(l.left, i, i+1)
	return nil
}

func (l *Ledger) Left() []engine.Thing {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.left)
}

func (l *Ledger) write(e entry) error {
	line, err := json.Marshal(e)
	if err == nil {
		err = journal.Append(l.file, line)
	}
	if err != nil {
		return fmt.Errorf("writing the ledger: %w", err)
	}
	return nil
}

// Close closes the file.
func (l *Ledger) Close() error { return l.file.Close() }

// readLedger gives what a ledger says is still there. A torn line is the one
// that a kill interrupted: what it announced was not made yet.
func readLedger(r io.Reader) ([]engine.Thing, error) {
	var things []engine.Thing
	sc := bufio.NewScanner(r)
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		var e entry
		if json.Unmarshal(sc.Bytes(), &e) != nil {
			continue
		}
		i := slices.Index(things, e.Thing)
		switch {
		case e.Op == "made" && i < 0:
			things = append(things, e.Thing)
		case e.Op == "gone" && i >= 0:
			things = slices.Delete(things, i, i+1)
		}
	}
	if err := sc.Err(); err != nil {
		return things, fmt.Errorf("reading the ledger: %w", err)
	}
	return things, nil
}
