//go:build linux

package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/common/remark"
	"plimsoll/internal/record"
)

// examOf is an exam of a stored machine; during is what happens within the
// window.
func examOf(m Machine, during func()) exam {
	return exam{
		machine: m, stateDir: "/home/user/plimsoll", containers: known, window: 300 * time.Millisecond,
		sleep: func(context.Context, time.Duration) {
			if during != nil {
				during()
			}
		},
		free:   func(string) (uint64, error) { return 100 * gib, nil },
		ticker: func() error { return nil },
	}
}

func codes(l []record.Remark) []string {
	c := make([]string, 0, len(l))
	for _, r := range l {
		c = append(c, r.Code+" "+r.Level)
	}
	slices.Sort(c)
	return c
}

func TestDoctorOnStoredMachines(t *testing.T) {
	for name, want := range map[string][]string{
		"debian12-vm-hybrid": {"cgroup-hybrid info", "few-cpus info", "no-cap-sys-resource info", "virtual-machine info"},
		"ubuntu2404-metal-v2": {
			"clocksource warn", "containers-running warn", "cpu-limited warn", "debug-kernel warn", "governor warn", "memory-low warn",
			"rlimit-nproc warn", "smt info", "swap warn", "thp info", "turbo info",
		},
		"arm64-v1-container": {
			"battery warn", "busy warn", "cgroup-v1 info", "cpu-limited warn", "few-cpus warn", "in-container warn",
			"no-cap-sys-resource info", "no-psi info", "rlimit-nofile warn", "time-namespace info", "virtual-machine info",
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := stored(t, name)
			// The captured machine was busy; the window moves what it must.
			m.set(t, "/proc/pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=5\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n")
			m.set(t, "/proc/pressure/io", "some avg10=0.00 avg60=0.00 avg300=0.00 total=5\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n")
			if name == "arm64-v1-container" {
				gone(t, os.RemoveAll(m.path("/proc/pressure")))
			}
			if name == "debian12-vm-hybrid" {
				m.set(t, "/proc/loadavg", "0.05 0.60 0.82 1/93 26011\n")
			}
			m.set(t, "/proc/stat", "cpu  1000 0 500 100000 10 0 5 0 0 0\nprocesses 1\n")
			l := examOf(m, func() {
				m.set(t, "/proc/stat", "cpu  1001 0 500 100059 10 0 5 0 0 0\nprocesses 1\n")
			}).run(t.Context())
			if got := codes(l); !slices.Equal(got, want) {
				t.Errorf("\n got %q\nwant %q", got, want)
			}
			inForm(t, l)
		})
	}
}

// inForm holds every remark to the house's form, and every code to the list.
func inForm(t *testing.T, l []record.Remark) {
	t.Helper()
	sentence := regexp.MustCompile(`^[A-Z0-9].*\.$`)
	for _, r := range l {
		if !slices.ContainsFunc(remark.List, func(k remark.Kind) bool {
			return k.By == remark.Doctor && k.Code == r.Code && strings.Contains(k.Level, r.Level)
		}) {
			t.Errorf("the code %q with the level %s is not in the list", r.Code, r.Level)
		}
		if !sentence.MatchString(r.Text) || strings.Contains(r.Text, "%!") {
			t.Errorf("%s: %q is no sentence", r.Code, r.Text)
		}
		if r.Level != levelInfo && r.Advice == "" {
			t.Errorf("%s (%s) has no advice", r.Code, r.Level)
		}
	}
}

// Each disturbance alone on the one machine gives its own remark and no other.
func TestDoctorNoticesWhatHappensInTheWindow(t *testing.T) {
	const zero = "avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"
	psi := func(us string) string {
		return "some avg10=0.00 avg60=0.00 avg300=0.00 total=" + us + "\nfull " + zero
	}
	calm := func() Machine {
		m := stored(t, "debian12-vm-hybrid")
		m.set(t, "/proc/loadavg", "0.05 0.60 0.82 1/93 26011\n")
		m.set(t, "/proc/stat", "cpu  1000 0 500 100000 10 0 5 0 0 0\nprocesses 1\n")
		for _, r := range []string{"cpu", "io", "memory"} {
			m.set(t, "/proc/pressure/"+r, psi("1000"))
		}
		m.set(t, "/sys/fs/cgroup/cpu/cpu.stat", "nr_periods 0\nnr_throttled 0\nthrottled_time 0\n")
		m.set(t, "/proc/500/stat", "500 (hog) R 1 1 1 0 -1 4194560 1 2 3 4 11 22 0 0 20 0 1 0 9876 1 1 1")
		return m
	}
	m := calm()
	quiet := codes(examOf(m, nil).run(t.Context()))
	for _, c := range []struct {
		want   string
		text   string
		during func(m Machine)
	}{
		{"steal-heavy refuse", "25 %", func(m Machine) { m.set(t, "/proc/stat", "cpu  1000 0 500 100045 10 0 5 15 0 0\nprocesses 1\n") }},
		{"steal warn", "3 %", func(m Machine) { m.set(t, "/proc/stat", "cpu  1000 0 500 100058 10 0 5 2 0 0\nprocesses 1\n") }},
		{"busy warn", "50 % of the CPUs (load average 0.05), most of it hog", func(m Machine) {
			m.set(t, "/proc/stat", "cpu  1030 0 500 100030 10 0 5 0 0 0\nprocesses 1\n")
			m.set(t, "/proc/500/stat", "500 (hog) R 1 1 1 0 -1 4194560 1 2 3 4 41 22 0 0 20 0 1 0 9876 1 1 1")
		}},
		{"busy warn", "the last minute is 9.00 on 2 CPUs, though other programs use 0 % of them now", func(m Machine) {
			m.set(t, "/proc/stat", "cpu  1000 0 500 100060 10 0 5 0 0 0\nprocesses 1\n")
			m.set(t, "/proc/loadavg", "9.00 0.03 0.04 1/94 8077\n")
		}},
		{"cpu-pressure warn", "33 %", func(m Machine) { m.set(t, "/proc/pressure/cpu", psi("101000")) }},
		{"io-pressure warn", "33 %", func(m Machine) { m.set(t, "/proc/pressure/io", psi("101000")) }},
		{"memory-pressure warn", "33 %", func(m Machine) { m.set(t, "/proc/pressure/memory", psi("101000")) }},
		{"throttled refuse", "2 times", func(m Machine) {
			m.set(t, "/sys/fs/cgroup/cpu/cpu.stat", "nr_periods 3\nnr_throttled 2\nthrottled_time 5\n")
		}},
	} {
		t.Run(c.want, func(t *testing.T) {
			m := calm()
			l := examOf(m, func() { c.during(m) }).run(t.Context())
			inForm(t, l)
			var extra []string
			for _, code := range codes(l) {
				if !slices.Contains(quiet, code) {
					extra = append(extra, code)
				}
			}
			if !slices.Equal(extra, []string{c.want}) {
				t.Errorf("got %q", extra)
			}
			if !slices.ContainsFunc(l, func(r record.Remark) bool { return strings.Contains(r.Text, c.text) }) {
				t.Errorf("%q is in none of %+v", c.text, l)
			}
			if Refused(l) != strings.HasSuffix(c.want, "refuse") {
				t.Errorf("refused: %v", Refused(l))
			}
		})
	}
}

// TestDoctorLooksAgain: what may be over in a moment refuses no machine.
func TestDoctorLooksAgain(t *testing.T) {
	for want, stolen := range map[string]int{"steal warn": 15, "steal-heavy refuse": 150} {
		m := stored(t, "debian12-vm-hybrid")
		m.set(t, "/proc/stat", "cpu  1000 0 500 100000 10 0 5 0 0 0\nprocesses 1\n")
		looks := 0
		e := examOf(m, func() {
			looks++
			stat := "cpu  1000 0 500 100045 10 0 5 15 0 0\nprocesses 1\n"
			if looks == 2 {
				stat = fmt.Sprintf("cpu  1000 0 500 %d 10 0 5 %d 0 0\nprocesses 1\n", 100645-stolen, 15+stolen)
			}
			m.set(t, "/proc/stat", stat)
		})
		if got := codes(e.judge(t.Context())); looks != 2 || !slices.Contains(got, want) {
			t.Errorf("after %d looks %q, expected %q after 2", looks, got, want)
		}
	}
}

func TestDoctorOnDiskAndClock(t *testing.T) {
	e := examOf(stored(t, "debian12-vm-hybrid"), nil)
	e.ticker = func() error { return errors.New("it stands still") }
	asked := 0
	e.free = func(dir string) (uint64, error) {
		if asked++; dir != "/home" {
			return 0, os.ErrNotExist
		}
		return 5 * mib, nil
	}
	l := e.run(t.Context())
	inForm(t, l)
	got := codes(l)
	if !slices.Contains(got, "clock-broken refuse") || !slices.Contains(got, "disk-low warn") || asked != 3 {
		t.Errorf("%q after %d questions", got, asked)
	}
}

func TestDoctorOnThisMachine(t *testing.T) {
	l := Machine{}.Doctor(t.Context(), t.TempDir(), known)
	inForm(t, l)
	if err := monotonicClock(); err != nil {
		t.Error(err)
	}
	for _, r := range l {
		t.Logf("%s %s: %s (%s)", r.Level, r.Code, r.Text, r.Advice)
	}
}

// known are two engines with the same groups, and one with others.
var known = []Containers{
	{Engine: "Docker", Path: regexp.MustCompile(`/docker-[0-9a-f]{64}(\.scope)?$`)},
	{Engine: "balenaEngine", Path: regexp.MustCompile(`/docker-[0-9a-f]{64}(\.scope)?$`), Holder: "balena"},
	{Engine: "LXC", Path: regexp.MustCompile(`/lxc\.payload\.[^/]+$`)},
}

func TestContainerOf(t *testing.T) {
	id := strings.Repeat("0f", 32)
	for _, c := range []struct{ path, holder, want string }{
		{"/sys/fs/cgroup/system.slice/docker-" + id + ".scope", "containerd-shim", "Docker"},
		{"/sys/fs/cgroup/system.slice/docker-" + id + ".scope", "balena-engine-c", "balenaEngine"},
		{"/sys/fs/cgroup/kubepods/pod1/" + id, "", "another engine"},
		{"/sys/fs/cgroup/lxc.payload.web", "balena-engine-c", "LXC"},
		{"/sys/fs/cgroup/lxc.payload.web/init.scope", "", ""},
		{"/sys/fs/cgroup/system.slice/docker.service", "", ""},
	} {
		if got, _ := containerOf(known, c.path, func() string { return c.holder }); got != c.want {
			t.Errorf("%s held by %q: %q, want %q", c.path, c.holder, got, c.want)
		}
	}
}

// balenaEngine's containers have Docker's cgroups: they are told apart by what
// holds them, and not by what runs in them.
func TestContainersOfBalena(t *testing.T) {
	m := stored(t, "ubuntu2404-metal-v2")
	process := func(pid, ppid int, comm string) {
		m.set(t, fmt.Sprintf("/proc/%d/stat", pid), fmt.Sprintf("%d (%s) S %d 1 1 0 -1 4194560 1 2 3 4 11 22 0 0 20 0 1 0 9876 1 1 1", pid, comm, ppid))
	}
	group := func(id, below, procs string) {
		dir := "/sys/fs/cgroup/system.slice/docker-" + strings.Repeat(id, 64) + ".scope"
		m.set(t, dir+"/cgroup.events", "populated 1\nfrozen 0\n")
		m.set(t, dir+below+"/cgroup.procs", procs)
	}
	process(700, 1, "containerd-shim")
	process(701, 700, "balena-cli") // a program in a container of Docker's
	process(800, 1, "balena-engine-c")
	process(801, 800, "sh")
	process(802, 801, "sleep")
	process(901, 800, "systemd")
	group("a", "", "701\n")
	group("c", "", "801\n802\n")
	group("d", "/init.scope", "901\n")
	l := examOf(m, nil).run(t.Context())
	const want = "1 of Docker, 2 of balenaEngine, 1 of LXC"
	if !slices.ContainsFunc(l, func(r record.Remark) bool { return r.Code == "containers-running" && strings.Contains(r.Text, want) }) {
		t.Errorf("%q is in none of %+v", want, l)
	}
}
