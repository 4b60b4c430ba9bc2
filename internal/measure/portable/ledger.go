package portable

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"plimsoll/internal/common/journal"
	"plimsoll/internal/measure/engine"
)

// Ledger keeps account of what a run makes, in a file of the run's own that is locked
// while the run lives. Whoever finds one that is not locked removes what it names, as
// far as the thing bears the run's label.
type Ledger struct {
	mu   sync.Mutex
	file *os.File
	path string
	left []engine.Thing
	by   map[string]reach
}

// entry is a line of it.
type entry struct {
	Thing engine.Thing `json:"thing,omitzero"`
	Gone  bool         `json:"gone,omitempty"`
	// Reach says how the engine is reached again that a Thing's At names.
	Reach *reach `json:"reach,omitempty"`
	At    string `json:"at,omitempty"`
}

// reach is a way to an engine. It names files of keys and holds none.
type reach struct {
	Address Address
	Program bool // by its command
}

const ledgerSuffix = ".ledger.jsonl"

func (l *Ledger) Made(t engine.Thing) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.write(entry{Thing: t}); err != nil {
		return err
	}
	if !slices.Contains(l.left, t) {
		l.left = append(l.left, t)
	}
	return nil
}

// Reached notes how an engine is reached, before anything is made there.
func (l *Ledger) Reached(at string, r reach) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.by[at] = r
	return l.write(entry{Reach: &r, At: at})
}

// Gone strikes a thing out.
func (l *Ledger) Gone(t engine.Thing) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.left = slices.DeleteFunc(l.left, func(x engine.Thing) bool { return x == t })
	return l.write(entry{Thing: t, Gone: true})
}

// Left is what was made and is not gone.
func (l *Ledger) Left() []engine.Thing {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.left)
}

func (l *Ledger) write(e entry) error {
	text, err := json.Marshal(e)
	if err == nil {
		err = journal.Append(l.file, text)
	}
	if err == nil && !e.Gone { // lost, a Gone costs a question more
		err = l.file.Sync()
	}
	if err != nil {
		return fmt.Errorf("writing the ledger %s: %w", l.path, err)
	}
	return nil
}

// Close ends it; it stays on the disk where something is left.
func (l *Ledger) Close() error { return endLedger(l.file, l.path, len(l.Left()) == 0) }

// readLedger gives what the ledger of a dead run still names, its run, and the ways to
// the engines.
func readLedger(f *os.File) (runID string, left []engine.Thing, by map[string]reach) {
	runID, by = strings.TrimSuffix(filepath.Base(f.Name()), ledgerSuffix), map[string]reach{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var e entry
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			continue // torn by the death of the run
		}
		if e.Reach != nil {
			by[e.At] = *e.Reach
			continue
		}
		left = slices.DeleteFunc(left, func(x engine.Thing) bool { return x == e.Thing })
		if !e.Gone {
			left = append(left, e.Thing)
		}
	}
	return runID, left, by
}
