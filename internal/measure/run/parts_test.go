package run

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/host/proc"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/measure/tune"
	"plimsoll/internal/record"
)

func TestClockOf(t *testing.T) {
	shared := probe.Exchange{Sent: 100, Inside: 150, Received: 200}
	for _, c := range []struct {
		name string
		in   []probe.Exchange
		want record.Clock
	}{
		{"none", nil, ""},
		{"shared", []probe.Exchange{shared, {Sent: 300, Inside: 300, Received: 310}}, record.ClockShared},
		{"behind", []probe.Exchange{shared, {Sent: 300, Inside: 299, Received: 310}}, record.ClockForeign},
		{"ahead", []probe.Exchange{{Sent: 300, Inside: 311, Received: 310}}, record.ClockForeign},
	} {
		if got := clockOf(c.in); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestOrdered(t *testing.T) {
	good := map[record.Event]int64{record.Request: 1, record.First: 2, record.Ready: 3, record.Done: 4, record.Exit: 5}
	if !ordered(good) {
		t.Error("a good order is refused")
	}
	for _, c := range []struct {
		event record.Event
		at    int64
	}{{record.First, 0}, {record.First, 4}, {record.Done, 1}, {record.Done, 6}} {
		bad := map[record.Event]int64{}
		maps.Copy(bad, good)
		bad[c.event] = c.at
		if ordered(bad) {
			t.Errorf("%s at %d is taken for ordered", c.event, c.at)
		}
	}
}

func TestInside(t *testing.T) {
	i := &insider{paths: newPaths("abcd1234"), host: map[string]string{"net": "1", "pid": "2"}}
	report := map[string]string{
		"ns.net": "9", "ns.pid": "2", "uid": "0", "gid": "0", "cap.eff": "00ff", "seccomp": "2", "no_new_privs": "1",
		"root.fs": "overlay", "root.mount_options": "rw", "root.options": "lowerdir=/x", "uname.release": "6.1",
		"cgroup.memory": "/docker/0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
		"cgroup.cpu":    "/plimsoll-abcd1234-native", "pid": "1", "clock.monotonic": "5", "limit.memory.max": "1000",
	}
	a := i.read("e", report)
	if a.Namespaces["net"] != "own" || a.Namespaces["pid"] != "host" || a.Namespaces["mnt"] != "" {
		t.Errorf("namespaces %v", a.Namespaces)
	}
	if a.Cgroup != "cpu=/* memory=/docker/*" || a.Root != "overlay rw" || a.More["limit.memory.max"] != "1000" {
		t.Errorf("%+v", a)
	}
	for options, want := range map[string]string{"rw,lowerdir=/x,volatile": "overlay rw,volatile", "rw,upperdir=/x,fsync=volatile": "overlay rw,volatile",
		"rw,fsync=ordered": "overlay rw", "rw,upperdir=/volatile": "overlay rw"} {
		other := maps.Clone(report)
		other["root.options"] = options
		if got := i.read("e", other).Root; got != want {
			t.Errorf("%s: %q, want %q", options, got, want)
		}
	}
	// LXC gives every container a boot id of its own.
	i.boot = "x"
	for id, want := range map[string]string{"x": "host", "y": "own"} {
		if got := i.read("e", map[string]string{"boot_id": id}).More["boot_id"]; got != want {
			t.Errorf("boot id %s: %q, want %q", id, got, want)
		}
	}
	for key := range a.More {
		if key == "pid" || strings.HasPrefix(key, "clock.") {
			t.Errorf("%s differs from trial to trial and is kept", key)
		}
	}
	if why := differs(a, i.read("e", report)); why != "" {
		t.Errorf("the same report differs: %s", why)
	}
	for key, value := range map[string]string{
		"ns.net": "1", "uid": "5", "cap.eff": "0", "seccomp": "0", "no_new_privs": "0", "root.fs": "ext4", "uname.release": "4.4", "limit.memory.max": "2000",
	} {
		other := maps.Clone(report)
		other[key] = value
		if differs(a, i.read("e", other)) == "" {
			t.Errorf("another %s makes no difference", key)
		}
	}
}

func TestKernelSetting(t *testing.T) {
	s := State{t.TempDir()}
	file := filepath.Join(t.TempDir(), "setting")
	require.NoError(t, os.WriteFile(file, []byte("0\n"), 0o644))
	if _, err := s.SetKernel(file, "1"); err == nil {
		t.Error("a file outside /sys and /proc was written")
	}
	// A note that names another file is somebody's mischief: it is refused.
	_, err := s.noteKernel([]tune.Change{{Path: file, Old: "1", New: "0"}})
	require.NoError(t, err)
	if err := s.RestoreKernel(); err == nil || !strings.Contains(err.Error(), "not a kernel setting") {
		t.Errorf("a file outside /sys and /proc was written: %v", err)
	}
	if b, err := os.ReadFile(file); err != nil || string(b) != "0\n" {
		t.Errorf("%q %v", b, err)
	}
	if _, err := (State{t.TempDir()}).SetKernel(file+"x", "1"); err == nil {
		t.Error("a setting that is not there was changed")
	}
	const real = "/sys/kernel/rcu_expedited"
	old, err := os.ReadFile(real)
	if err != nil || os.Geteuid() != 0 {
		t.Skipf("%s can't be changed here: %v, or not root", real, err)
	}
	fresh := State{t.TempDir()}
	if _, err := fresh.SetKernel(real, "1"); err != nil {
		t.Skipf("%s can't be changed here: %v", real, err)
	}
	if b, _ := os.ReadFile(real); strings.TrimSpace(string(b)) != "1" {
		t.Errorf("it is %q while it is changed", b)
	}
	// As after a kill: another process, which knows the folder only.
	if err := (State{fresh.Dir}).RestoreKernel(); err != nil {
		t.Error(err)
	}
	if b, _ := os.ReadFile(real); string(b) != string(old) {
		t.Errorf("it is %q, and was %q", b, old)
	}
}

func TestWrongNetwork(t *testing.T) {
	env := func(level, baseline string) *record.Environment {
		return &record.Environment{Levels: map[string]string{"network": level}, Baseline: baseline}
	}
	in := func(net, kernel string) record.Inside {
		return record.Inside{Namespaces: map[string]string{"net": net}, Kernel: kernel}
	}
	for _, c := range []struct {
		env   *record.Environment
		in    record.Inside
		wrong bool
	}{
		{env("none", ""), in("host", proc.Release()), true},
		{env("none", ""), in("own", proc.Release()), false},
		{env("host", ""), in("own", proc.Release()), true},
		{env("host", ""), in("own", "4.4.0"), false}, // behind a foreign kernel
		{env("none", "native"), in("host", proc.Release()), false},
		{env("default", ""), in("host", proc.Release()), false},
	} {
		if got := wrongNetwork(c.env, c.in); (got != "") != c.wrong {
			t.Errorf("%v %v: %q", c.env.Levels, c.in, got)
		}
	}
}
