package enginetest

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/host/proc"
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
		name, line := comm(pid), cmdline(pid)
		seen = append(seen, name)
		begins := func(with []string, s string) bool {
			return slices.ContainsFunc(with, func(p string) bool { return strings.HasPrefix(s, p) })
		}
		switch {
		case begins(told.Titles, line), begins(told.Helpers, name), strings.HasPrefix(name, probeName):
		case slices.Contains(told.Daemons, name), name == "systemd", name == "init":
			return
		default:
			t.Errorf("the process %d (%s: %s) stands above the payload, and Info.Processes names neither a daemon nor a helper so: %+v", pid, name, line, told)
		}
	}
}

// groups: doctor would know a container of this engine's by its control group,
// where it has one that neither its parent nor the test is in.
func (s *suite) groups(t *testing.T, payload int) {
	t.Helper()
	groups, err := proc.Here.Groups(proc.PID(payload))
	if err != nil {
		t.Fatalf("the payload's control groups: %v", err)
	}
	own, err := proc.Here.Groups("self")
	require.NoError(t, err)
	above, _ := proc.Here.Groups(proc.PID(parent(payload))) // without a parent there are none
	for _, g := range groups {
		told := slices.ContainsFunc(s.engine.Info().Cgroups, func(c engine.ContainerGroup) bool {
			ok, err := regexp.MatchString(c.Path, g.Path)
			return ok && err == nil
		})
		others := slices.ContainsFunc(slices.Concat(own, above), func(o proc.Group) bool {
			return o.Path == g.Path && slices.Equal(o.Controllers, g.Controllers)
		})
		if !told && !others && !strings.Contains(g.Path, s.kit.RunID) {
			t.Errorf("the payload is in the control group %s, which no expression of Info.Cgroups tells", g.Path)
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
	stat, _ := proc.Here.Stat(pid)
	return stat.Comm
}

// parent is a process's, 0 where it has ended.
func parent(pid int) int {
	stat, _ := proc.Here.Stat(pid)
	return stat.PPID
}
