//go:build linux

package collect

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/host/proc"
)

// machine is where the kernel's files are: below a root that tests hand in.
type machine struct {
	root  string
	trees []proc.Hierarchy
	// disks are the real ones: what a loop device or a mapping does is done
	// by a real one, too, and would count twice.
	disks     []device
	diskStats []string // their statistics
	// nics are the real network interfaces.
	nics []string
	// names are what engines call their own processes.
	names engine.Processes
}

func newMachine(root string, names engine.Processes) (*machine, error) {
	if !names.Told() {
		return nil, errors.New("nobody said which processes are engines'")
	}
	m := &machine{root: root, names: names}
	trees, err := m.dir().Hierarchies()
	if err != nil {
		return nil, fmt.Errorf("finding the control groups: %w", err)
	}
	slices.Reverse(trees) // of several mounts of one tree the last covers the others
	m.trees = trees
	m.findDisks()
	m.findNICs()
	return m, nil
}

func (m *machine) path(p string) string {
	if m.root == "" {
		return p
	}
	return filepath.Join(m.root, p)
}

func (m *machine) dir() proc.Dir { return proc.Dir(m.path("/proc")) }

func (m *machine) proc(pid int, name string) string {
	return m.path("/proc/" + strconv.Itoa(pid) + "/" + name)
}

// findDisks takes the disks that have a device behind them.
func (m *machine) findDisks() {
	found, _ := filepath.Glob(m.path("/sys/block/*/stat")) // the pattern is well-formed
	for _, stat := range found {
		dir := filepath.Dir(stat)
		if _, err := os.Stat(dir + "/device"); err != nil {
			continue
		}
		b, err := os.ReadFile(dir + "/dev")
		if err != nil {
			continue
		}
		if d, _, ok := cutDevice(b); ok {
			m.disks = append(m.disks, d)
			m.diskStats = append(m.diskStats, stat)
		}
	}
}

func (m *machine) findNICs() {
	found, _ := filepath.Glob(m.path("/sys/class/net/*/device"))
	for _, dev := range found {
		m.nics = append(m.nics, filepath.Base(filepath.Dir(dev)))
	}
}
