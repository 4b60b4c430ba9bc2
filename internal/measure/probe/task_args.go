package probe

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// What the probe, and the kernel, take at most.
const (
	maxTaskSteps = 64
	maxTaskArgs  = 16384
	maxTaskBytes = 512 << 10
	maxTaskArg   = 128<<10 - 1 // MAX_ARG_STRLEN of the kernel, with its NUL
	maxTaskWord  = 128
)

// errTaskArgs is what an error of Argv is made of: these steps can't be handed over.
var errTaskArgs = errors.New("the steps can't be handed to the probe")

// Argv gives the argument list, with path as Argv[0]. Any argument may stand in
// a step; an errTaskArgs is for what no argument list can carry (a NUL), for
// one that is too long, and for steps that make no sense.
func (a TaskArgs) Argv(path string) ([]string, error) {
	if err := taskWord(a.Word); err != nil {
		return nil, err
	}
	argv := []string{path, "task", a.Word}
	if a.Report {
		argv = append(argv, "--report")
	}
	if a.Hash {
		argv = append(argv, "--hash")
	}
	if a.Dir != "" {
		argv = append(argv, "--dir", a.Dir)
	}
	if len(a.Steps) == 0 || len(a.Steps) > maxTaskSteps {
		return nil, fmt.Errorf("%w: %d steps, want 1 to %d", errTaskArgs, len(a.Steps), maxTaskSteps)
	}
	for i, s := range a.Steps {
		var err error
		if argv, err = s.appendTo(argv); err != nil {
			return nil, fmt.Errorf("%w: step %d (%s): %w", errTaskArgs, i+1, s.Kind, err)
		}
	}
	return argv, fits(argv)
}

// taskWord refuses what could not be told apart in a line of its own.
func taskWord(word string) error {
	if word == "" || len(word) > maxTaskWord || strings.ContainsFunc(word, func(r rune) bool { return r <= ' ' || r == 0x7f || r == '\\' }) {
		return fmt.Errorf("%w: the word %q is none", errTaskArgs, word)
	}
	return nil
}

func fits(argv []string) error {
	total := 0
	for _, s := range argv {
		if strings.IndexByte(s, 0) >= 0 {
			return fmt.Errorf("%w: a NUL in %.40q", errTaskArgs, s)
		}
		if len(s) > maxTaskArg {
			return fmt.Errorf("%w: an argument of %d bytes, at most %d", errTaskArgs, len(s), maxTaskArg)
		}
		total += len(s) + 1
	}
	if len(argv) > maxTaskArgs || total > maxTaskBytes {
		return fmt.Errorf("%w: %d arguments of %d bytes, at most %d of %d", errTaskArgs, len(argv), total, maxTaskArgs, maxTaskBytes)
	}
	return nil
}

func (s TaskStep) appendTo(argv []string) ([]string, error) {
	argv = append(argv, string(s.Kind))
	switch s.Kind {
	case TaskPort:
		if s.Port < 1 || s.Port > 65535 {
			return nil, fmt.Errorf("no port: %d", s.Port)
		}
		return append(argv, strconv.Itoa(s.Port)), nil
	case TaskFile:
		if s.File == "" {
			return nil, errors.New("no file")
		}
		return append(argv, s.File), nil
	case TaskStay:
		return argv, nil
	case TaskPrepare, TaskServe, TaskMain, TaskCleanup:
	default:
		return nil, errors.New("no such kind of step")
	}
	if len(s.Argv) == 0 || s.Argv[0] == "" {
		return nil, errors.New("no program")
	}
	if s.Status < 0 || s.Status > 255 {
		return nil, fmt.Errorf("no exit status: %d", s.Status)
	}
	if s.Status != 0 {
		argv = append(argv, "--status", strconv.Itoa(s.Status))
	}
	if s.Output != "" {
		argv = append(argv, "--output", s.Output)
	}
	if s.Input != "" {
		argv = append(argv, "--input", s.Input)
	}
	argv = append(argv, strconv.Itoa(len(s.Argv)))
	return append(argv, s.Argv...), nil
}
