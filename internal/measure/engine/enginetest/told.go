package enginetest

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"plimsoll/internal/measure/engine"
)

// images: the environment comes to its image as Info says.
func (s *suite) images(t *testing.T) {
	t.Helper()
	_, pulls := s.env.(engine.Puller)
	_, sizes := s.env.(engine.Sizer)
	is := engine.ImagesGiven
	switch {
	case pulls:
		is = engine.ImagesPulled
	case sizes:
		is = engine.ImagesHanded
	}
	if told := s.engine.Info().Images; told != is {
		t.Errorf("Info.Images is %q, and the environment's are %q: it pulls: %v, it knows sizes: %v", told, is, pulls, sizes)
	}
}

// above: Info names every process that stands between a held payload and the
// machine's init, or us.
func (s *suite) above(t *testing.T, payload int) {
	t.Helper()
	told := s.engine.Info().Processes
	var seen []string
	defer func() { t.Logf("above the payload: %q", seen) }()
	for pid := parent(payload); pid > 1 && !us(pid); pid = parent(pid) {
		comm, line := comm(pid), cmdline(pid)
		seen = append(seen, comm)
		begins := func(with []string, s string) bool {
			return slices.ContainsFunc(with, func(p string) bool { return strings.HasPrefix(s, p) })
		}
		switch {
		case begins(told.Titles, line), begins(told.Helpers, comm), strings.HasPrefix(comm, probeName):
		case slices.Contains(told.Daemons, comm), comm == "systemd", comm == "init":
			return
		default:
			t.Errorf("the process %d (%s: %s) stands above the payload, and Info.Processes names neither a daemon nor a helper so: %+v", pid, comm, line, told)
		}
	}
}

// groups: doctor would know a container of this engine's by its control group.
func (s *suite) groups(t *testing.T, payload int) {
	t.Helper()
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", payload))
	own, _ := os.ReadFile("/proc/self/cgroup")
	for line := range strings.Lines(string(text)) {
		_, path, _ := strings.Cut(strings.TrimSpace(line), ":/")
		told := slices.ContainsFunc(s.engine.Info().Cgroups, func(c engine.ContainerGroup) bool {
			ok, err := regexp.MatchString(c.Path, "/"+path)
			return ok && err == nil
		})
		if !told && !strings.Contains(string(own), line) && !strings.Contains(path, s.kit.RunID) {
			t.Errorf("the payload is in the control group /%s, which no expression of Info.Cgroups tells", path)
		}
	}
}

// probeName is how the kernel calls our own program: a launcher, or the first
// process of a system container.
const probeName = "plimsoll-probe"

// us says whether a process is the test, or one that it was started by.
func us(pid int) bool {
	for p := os.Getpid(); p > 1; p = parent(p) {
		if p == pid {
			return true
		}
	}
	return false
}

func comm(pid int) string {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	return strings.TrimSpace(string(b))
}

// parent is a process's, 0 where it has ended.
func parent(pid int) int {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	// The name stands in parentheses and may have any.
	rest := string(b[max(strings.LastIndexByte(string(b), ')'), 0):])
	fields := strings.Fields(rest)
	if len(fields) < 3 {
		return 0
	}
	ppid, _ := strconv.Atoi(fields[2])
	return ppid
}
