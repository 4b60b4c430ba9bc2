//go:build linux

package engine

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"

	"plimsoll/internal/measure/host/proc"
)

// Modprobe is the command that loads one of these modules of the kernel, ""
// where it can't help: the kernel takes no modules, or none of them was built
// for it.
func Modprobe(modules ...string) string {
	return modprobe("/", proc.Release(), modules)
}

func modprobe(root, release string, modules []string) string {
	if _, err := os.Stat(filepath.Join(root, "proc/modules")); err != nil {
		return "" // CONFIG_MODULES is off
	}
	dir := filepath.Join(root, "lib/modules", release)
	if _, err := os.Stat(dir); os.IsNotExist(err) {
		dir = filepath.Join(root, "usr/lib/modules", release)
	}
	f, err := os.Open(filepath.Join(dir, "modules.dep"))
	if err != nil {
		return ""
	}
	defer f.Close()
	there := map[string]bool{}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		path, _, _ := strings.Cut(lines.Text(), ":")
		name, _, _ := strings.Cut(filepath.Base(path), ".ko")
		there[plainModule(name)] = true
	}
	for _, m := range modules {
		if there[plainModule(m)] {
			return "modprobe " + m
		}
	}
	return ""
}

// plainModule: modprobe(8) takes a dash and an underscore for the same.
func plainModule(name string) string { return strings.ReplaceAll(name, "-", "_") }
