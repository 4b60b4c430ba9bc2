package run

import (
	"path/filepath"
	"testing"

	"plimsoll/internal/measure/host/proc"
)

// What is free is MemFree, and not what could be made free.
func TestMeminfo(t *testing.T) {
	root := files(t, map[string]string{"proc/meminfo": meminfoText})
	m, err := readMeminfo(proc.Dir(filepath.Join(root, "proc")))
	if err != nil || m.Total != 1000000<<10 || m.Free != 1<<10 || m.Available != 700000<<10 {
		t.Errorf("%+v, %v", m, err)
	}
}
