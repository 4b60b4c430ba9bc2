//go:build !unit

package canary

import (
	"context"
	"errors"
	"os"
)

// Step is a line of a ledger.
type Step = step

// Ledgers says what a process that is gone has planted.
func Ledgers(pid int) ([]Step, error) {
	dir, err := openLedgers()
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	entries, err := dir.List()
	if err != nil {
		return nil, err
	}
	var steps []step
	for _, e := range entries {
		if of, gone := abandoned(e.Name()); gone && of == pid {
			data, err := dir.ReadFile(e.Name(), 16<<20, "the steps of a test")
			if err != nil {
				return nil, err
			}
			steps = append(steps, parseSteps(data)...)
		}
	}
	return steps, nil
}

// There says whether the canary of a line is there. Its engine is known to answer.
func (s step) There(ctx context.Context) bool {
	switch {
	case s.Look != nil:
		return s.Look.run(ctx) == nil
	case s.How == removeEmpty:
		return false // others may use it
	}
	_, err := os.Lstat(s.Path)
	return !errors.Is(err, os.ErrNotExist)
}
