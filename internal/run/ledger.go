package run

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"plimsoll/internal/host"
)

// Ledger is the append-only account of what a run makes on the machine. An
// entry is in the kernel's hands before Made returns: it survives the death
// of this process, though not of the machine, and what it lists would not
// survive that either, but for files and images, which carry our label too.
type Ledger struct {
	mu   sync.Mutex
	file *os.File
}

// entry is one line of the ledger.
type entry struct {
	Op   string `json:"op"` // "made" or "gone"
	Kind string `json:"kind"`
	Name string `json:"name"`
}

// OpenLedger opens the ledger at path, or begins it.
func OpenLedger(path string) (*Ledger, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the ledger: %w", err)
	}
	return &Ledger{file: f}, nil
}

// Made records that something is about to be made.
func (l *Ledger) Made(kind, name string) error { return l.write(entry{"made", kind, name}) }

// Gone records that it has been taken away.
func (l *Ledger) Gone(kind, name string) error { return l.write(entry{"gone", kind, name}) }

func (l *Ledger) write(e entry) error {
	line, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("writing the ledger: %w", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, err := l.file.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("writing the ledger: %w", err)
	}
	return nil
}

// Close closes the file.
func (l *Ledger) Close() error { return l.file.Close() }

// Thing is something that a ledger says was made and not taken away.
type Thing struct{ Kind, Name string }

// ledgerFile is the ledger in a run's folder.
const ledgerFile = "ledger.jsonl"

// ledgerNames gives the names under which what a run's ledger lists can be seen
// on the machine: of containers, cgroups, mounts, processes. Images and files
// can't be seen there; others may carry the same name.
func ledgerNames(dir string) ([]string, error) {
	things, err := ReadLedger(filepath.Join(dir, ledgerFile))
	var names []string
	for _, t := range things {
		switch host.Kind(t.Kind) {
		case host.KindMount, host.KindCgroup, host.KindNetNS, host.KindLink, host.KindProcess, "container":
			// Some say whose it is before the name.
			names = append(names, t.Name[strings.LastIndex(t.Name, " ")+1:])
		}
	}
	return names, err
}

// ReadLedger lists what a ledger says is still there, in the order in which
// it was made. A torn last line is the one that a kill interrupted: what it
// announced was not made yet.
func ReadLedger(path string) ([]Thing, error) {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the ledger: %w", err)
	}
	defer f.Close()
	return readLedger(f)
}

func readLedger(r io.Reader) ([]Thing, error) {
	var things []Thing
	sc := bufio.NewScanner(r)
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		var e entry
		if json.Unmarshal(sc.Bytes(), &e) != nil {
			continue
		}
		t := Thing{e.Kind, e.Name}
		switch e.Op {
		case "made":
			things = append(things, t)
		case "gone":
			for i := len(things) - 1; i >= 0; i-- {
				if things[i] == t {
					things = append(things[:i], things[i+1:]...)
					break
				}
			}
		}
	}
	if err := sc.Err(); err != nil {
		return things, fmt.Errorf("reading the ledger: %w", err)
	}
	return things, nil
}
