// Package tracetest looks, for tests, at what a process has put into the kernel to follow
// what it does, and whether that has gone with it.
package tracetest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
)

// Object is a program or a link in the kernel. Its number is not given again.
type Object struct {
	Kind string // as /proc/PID/fdinfo calls it: prog_id or link_id
	ID   uint32
}

// Held are the programs and links that a process holds.
func Held(pid int) []Object {
	var all []Object
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fdinfo/*", pid))
	for _, f := range files {
		text, _ := os.ReadFile(f) // one that is closed meanwhile is no more held
		for line := range strings.Lines(string(text)) {
			key, number, _ := strings.Cut(strings.TrimSpace(line), ":\t")
			o := Object{Kind: key}
			if _, err := fmt.Sscan(number, &o.ID); err == nil && (key == "prog_id" || key == "link_id") && !slices.Contains(all, o) {
				all = append(all, o)
			}
		}
	}
	return all
}

// gone asks the kernel.
func (o Object) gone() bool {
	if o.Kind == "link_id" {
		l, err := link.NewFromID(link.ID(o.ID))
		if err == nil {
			_ = l.Close()
		}
		return errors.Is(err, os.ErrNotExist)
	}
	p, err := ebpf.NewProgramFromID(ebpf.ProgramID(o.ID))
	if err == nil {
		_ = p.Close()
	}
	return errors.Is(err, os.ErrNotExist)
}

// AllThere fails the test where the kernel lacks one of them.
func AllThere(t testing.TB, objects []Object) {
	t.Helper()
	for _, o := range objects {
		if o.gone() {
			t.Errorf("%s %d is not there", o.Kind, o.ID)
		}
	}
}

// AllGone waits until the kernel has none of them any more: it lets go after a grace
// period.
func AllGone(t testing.TB, objects []Object) {
	t.Helper()
	left := slices.Clone(objects)
	for begin := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		left = slices.DeleteFunc(left, Object.gone)
		if len(left) == 0 {
			return
		}
		if time.Since(begin) > 10*time.Second {
			t.Fatalf("still in the kernel: %v", left)
		}
	}
}
