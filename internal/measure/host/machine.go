package host

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"plimsoll/internal/measure/host/proc"
)

// Machine is where the kernel's files are read from.
type Machine struct {
	// Root is the directory that stands for "/"; empty is "/" itself.
	Root string
}

// path gives the place of an absolute path of the machine.
func (m Machine) path(p string) string {
	if m.Root == "" {
		return p
	}
	return filepath.Join(m.Root, p)
}

// proc is its directory of the kernel's files.
func (m Machine) proc() proc.Dir { return proc.Dir(m.path("/proc")) }

// text reads a small file and trims it; absent is "".
func (m Machine) text(p string) string {
	b, err := os.ReadFile(m.path(p))
	if err != nil {
		return ""
	}
	return strings.TrimRight(string(b), " \t\n\x00")
}

// glob lists what matches, as paths of the machine.
func (m Machine) glob(pattern string) []string {
	l, err := filepath.Glob(m.path(pattern))
	if err != nil {
		return nil
	}
	for i, p := range l {
		if m.Root != "" {
			l[i] = strings.TrimPrefix(p, filepath.Clean(m.Root))
		}
	}
	return l
}

// parse reads a file through its parser.
func parse[T any](m Machine, p string, parser func(io.Reader) (T, error)) (T, error) {
	var zero T
	f, err := os.Open(m.path(p))
	if err != nil {
		return zero, fmt.Errorf("reading the machine's facts: %w", err)
	}
	defer f.Close()
	v, err := parser(f)
	if err != nil {
		return v, fmt.Errorf("reading the machine's facts from %s: %w", p, err)
	}
	return v, nil
}

// hasPrefixAny says whether s begins with one of the prefixes.
func hasPrefixAny(s string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(s, p) })
}
