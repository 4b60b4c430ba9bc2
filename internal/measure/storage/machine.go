package storage

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"plimsoll/internal/common/bounded"
	"plimsoll/internal/measure/child"
)

// Machine is where counters are read: files below a root, and programs.
type Machine struct {
	root     string // "" is the machine's own
	run      func(ctx context.Context, argv ...string) ([]byte, error)
	lookPath func(string) (string, error)
}

// Here is this machine.
func Here() *Machine { return &Machine{run: runProgram, lookPath: exec.LookPath} }

// The bounds of one reading: a server that hangs must not take a run with it.
const (
	programLimit = 10 * time.Second
	mostBytes    = 16 << 20
)

func runProgram(ctx context.Context, argv ...string) ([]byte, error) {
	out, err := child.Run(ctx, child.Command{Argv: argv, Limit: programLimit})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", argv[0], err)
	}
	return out.Stdout, nil
}

func (m *Machine) path(p string) string { return filepath.Join("/", m.root, p) }

// file reads a file within bounds.
func (m *Machine) file(p string) ([]byte, error) {
	f, err := os.Open(m.path(p))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return bounded.Read(f, mostBytes, fmt.Sprintf("%s is larger than %d MiB", p, mostBytes>>20))
}

// glob gives the files that match any of the patterns, by the path that file takes.
func (m *Machine) glob(patterns ...string) []string {
	var out []string
	for _, p := range patterns {
		found, err := filepath.Glob(m.path(p))
		if err != nil {
			continue // the patterns are constants: a test walks them
		}
		for _, f := range found {
			rel, err := filepath.Rel(m.path("/"), f)
			if err == nil {
				out = append(out, "/"+rel)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// absentError says that this machine has not what a source reads.
type absentError struct {
	Why string
	Fix string // what to do about it; empty where it just is not of this machine
}

func (e *absentError) Error() string {
	if e.Fix == "" {
		return e.Why
	}
	return e.Why + ": " + e.Fix
}

func absent(why string, fix ...string) error {
	e := &absentError{Why: why}
	if len(fix) > 0 {
		e.Fix = fix[0]
	}
	return e
}

// denied turns a lack of permission into what to do about it.
func denied(err error, fix string) error {
	if errors.Is(err, os.ErrPermission) {
		return absent(err.Error(), fix)
	}
	return err
}
