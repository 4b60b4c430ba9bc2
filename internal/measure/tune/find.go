package tune

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Machine is where settings are looked for; Root, for tests, is a directory that
// stands for /.
type Machine struct{ Root string }

func (m Machine) path(p string) string { return filepath.Join(m.Root, p) }

// Change is a file of the kernel's, or an option of a mount, with what it says
// without a setting and with it.
type Change struct {
	Path string `json:"path"`
	Old  string `json:"old"`
	New  string `json:"new"`
	// Option, if any, is one of the file system that is mounted at Path, and Old and
	// New are "no" and "yes".
	Option string `json:"option,omitempty"`
	// Held: it holds as long as we have the file open, and the kernel puts it back.
	Held bool `json:"held,omitempty"`
}

// errAbsent is returned for what this kernel does not have.
var errAbsent = errors.New("this kernel does not have it")

// errAlready is returned for what is as the setting would make it.
var errAlready = errors.New("it is so already")

// State is a setting on this machine.
type State struct {
	Setting
	Now   string // what it says now; empty if unknown
	Means string // and what that means, where it is no word itself
	// Changes are what would be written; none where Why says why not.
	Changes []Change
	Why     string
	Already bool // it is so without us
}

// Look tells of each setting whether it can be had here. Nothing is changed.
func (m Machine) Look() []State {
	var out []State
	for _, s := range settings {
		st := State{Setting: s}
		changes, err := s.find(m)
		if len(changes) > 0 {
			st.Now, st.Means = changes[0].Old, s.means(changes[0].Path, changes[0].Old)
		}
		switch {
		case errors.Is(err, errAlready):
			st.Already, st.Why = true, err.Error()
		case err != nil:
			st.Why = err.Error()
		default:
			st.Changes = changes
		}
		out = append(out, st)
	}
	return out
}

// file is a setting of one file. What the file says now is known where nothing is to be
// changed or may be, too.
func file(path, want string) func(Machine) ([]Change, error) {
	return func(m Machine) ([]Change, error) {
		c, err := m.look(path, want)
		if c.Old == "" && err != nil {
			return nil, err
		}
		return []Change{c}, err
	}
}

// files is a setting of all files of a pattern.
func files(pattern, want string) func(Machine) ([]Change, error) {
	return func(m Machine) ([]Change, error) {
		found, err := filepath.Glob(m.path(pattern))
		if err != nil {
			return nil, err
		}
		var out, others []Change
		why := fmt.Errorf("%w (%s)", errAbsent, pattern)
		for _, p := range found {
			c, err := m.look(strings.TrimPrefix(p, m.Root), want)
			if err == nil {
				out = append(out, c)
				continue
			}
			if !errors.Is(why, errAlready) {
				why = err
			}
			if c.Old != "" {
				others = append(others, c)
			}
		}
		if len(out) == 0 {
			return others, why
		}
		return out, nil
	}
}

// either is the first that the machine has.
func either(ways ...func(Machine) ([]Change, error)) func(Machine) ([]Change, error) {
	return func(m Machine) (c []Change, err error) {
		for _, way := range ways {
			if c, err = way(m); !errors.Is(err, errAbsent) {
				return c, err
			}
		}
		return c, err
	}
}

// look says what a file would be changed from.
func (m Machine) look(path, want string) (Change, error) {
	c := Change{Path: path, New: want}
	var err error
	if c.Old, err = m.read(c); err != nil {
		return c, err
	}
	if c.Old == want {
		return c, errAlready
	}
	if offers, err := m.offers(path); err == nil && len(offers) > 0 && !slices.Contains(offers, want) {
		return c, fmt.Errorf("this kernel offers %s (%s)", strings.Join(offers, ", "), path)
	}
	return c, m.writable(path)
}

// offers are the words of a file that has all that can be chosen, the chosen one in
// brackets; none of another file.
func (m Machine) offers(path string) ([]string, error) {
	b, err := os.ReadFile(m.path(path))
	if err != nil || !strings.ContainsRune(string(b), '[') {
		return nil, err
	}
	return strings.Fields(strings.NewReplacer("[", "", "]", "").Replace(string(b))), nil
}

// writable says why a file can't be written, without writing to it.
func (m Machine) writable(path string) error {
	f, err := os.OpenFile(m.path(path), os.O_WRONLY, 0)
	if err != nil {
		return because(path, err)
	}
	return f.Close()
}

// rootOnly is a file that only root may write.
type rootOnly string

func (path rootOnly) Error() string {
	return string(path) + " can be written by the machine's root only"
}

func (rootOnly) Unwrap() error { return fs.ErrPermission }

func because(path string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w (%s)", errAbsent, path)
	case errors.Is(err, fs.ErrPermission):
		return rootOnly(path)
	}
	return fmt.Errorf("%s can't be changed: %w", path, err)
}

// swap needs a machine that swaps.
func swap(m Machine) ([]Change, error) {
	b, err := os.ReadFile(m.path("/proc/swaps"))
	if err == nil && strings.Count(strings.TrimSpace(string(b)), "\n") == 0 {
		return nil, errors.New("this machine has no swap")
	}
	return file("/proc/sys/vm/swappiness", "0")(m)
}

// idleStates needs processors with states that are left late.
func idleStates(m Machine) ([]Change, error) {
	b, err := os.ReadFile(m.path("/sys/devices/system/cpu/cpuidle/current_driver"))
	if driver := strings.TrimSpace(string(b)); err != nil || driver == "" || driver == "none" {
		return nil, errors.New("this kernel does not choose the idle states of processors (in a virtual machine the hypervisor does)")
	}
	const path = "/dev/cpu_dma_latency"
	if err := m.writable(path); err != nil {
		return nil, err
	}
	return []Change{{Path: path, New: "0", Held: true}}, nil
}

// interrupts are those of devices that can be moved, and what comes later.
func interrupts(m Machine) ([]Change, error) {
	found, err := filepath.Glob(m.path("/proc/irq/*/smp_affinity_list"))
	if err != nil {
		return nil, err
	}
	online, err := os.ReadFile(m.path("/sys/devices/system/cpu/online"))
	if err == nil && strings.TrimSpace(string(online)) == "0" {
		return nil, errors.New("this machine has one processor")
	}
	var out []Change
	why := errors.New("no device's interrupts can be moved here")
	for _, p := range found {
		c, err := m.look(strings.TrimPrefix(p, m.Root), "0")
		if errors.Is(err, fs.ErrPermission) {
			why = err
		}
		if err != nil {
			continue // of each processor, or gone
		}
		// A device's own interrupts of one processor refuse: what is is written again.
		if m.write(c, c.Old) == nil {
			out = append(out, c)
		}
	}
	if len(out) == 0 {
		return nil, why
	}
	return out, nil
}

// File is the change of one file.
func (m Machine) File(path, want string) (Change, error) {
	c, err := m.look(path, want)
	if errors.Is(err, errAlready) {
		err = nil
	}
	if err == nil && !c.Ours() {
		err = fmt.Errorf("%q is not a kernel setting", path)
	}
	return c, err
}
