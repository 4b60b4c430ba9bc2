package probe

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"plimsoll/internal/common/require"
)

// tree makes a root directory that holds the probe alone, and the floor's
// other directories.
func tree(t testing.TB) *Floor {
	t.Helper()
	dir := t.TempDir()
	f := &Floor{Lower: dir + "/lower", Upper: dir + "/upper", Work: dir + "/work", Merged: dir + "/merged"}
	for _, d := range []string{f.Lower, f.Upper, f.Work, f.Merged} {
		require.NoError(t, os.Mkdir(d, 0o755))
	}
	if p := os.Getenv("PLIMSOLL_TEST_PROBE"); p != "" {
		b, err := os.ReadFile(p)
		if err == nil {
			err = os.WriteFile(filepath.Join(f.Lower, FileName), b, 0o755)
		}
		require.NoError(t, err)
	} else if _, err := Extract(f.Lower); err != nil {
		t.Fatal(err)
	}
	return f
}

func hostNamespaces(t testing.TB) map[string]string {
	t.Helper()
	ns := map[string]string{}
	for _, kind := range []string{"mnt", "pid", "net", "ipc", "uts", "user", "cgroup", "time"} {
		link, err := os.Readlink("/proc/self/ns/" + kind)
		if err != nil {
			continue
		}
		ns[kind] = strings.TrimSuffix(strings.TrimPrefix(link, kind+":["), "]")
	}
	return ns
}

// noMounts checks that nothing of a floor is mounted where we are. Others may
// mount what they like meanwhile.
func noMounts(t testing.TB, f *Floor) {
	t.Helper()
	b, err := os.ReadFile("/proc/self/mountinfo")
	require.NoError(t, err)
	if strings.Contains(string(b), filepath.Dir(f.Merged)) {
		t.Errorf("a mount was left behind below %s:\n%s", filepath.Dir(f.Merged), b)
	}
}

// needUserNamespaces skips where a floor in a user namespace can't be made
// here; without says that it would be made without root.
func needUserNamespaces(t testing.TB, without bool) {
	t.Helper()
	for _, knob := range []struct {
		path, off string
		always    bool
	}{
		{"/proc/sys/user/max_user_namespaces", "0", true},
		{"/proc/sys/kernel/unprivileged_userns_clone", "0", false},
		{"/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1", false},
	} {
		b, err := os.ReadFile(knob.path)
		if err == nil && strings.TrimSpace(string(b)) == knob.off && (knob.always || without) {
			t.Skipf("user namespaces are switched off here: %s is %s", knob.path, knob.off)
		}
	}
}

func TestFloorIsolates(t *testing.T) {
	host := hostNamespaces(t)
	for _, test := range []struct {
		name      string
		user, net bool
	}{{"plain", false, false}, {"net", false, true}, {"user", true, false}, {"user and net", true, true}} {
		t.Run(test.name, func(t *testing.T) {
			if !test.user {
				needRoot(t)
			} else {
				needUserNamespaces(t, os.Geteuid() != 0)
			}
			l, _ := startLauncher(t, Options{})
			f := tree(t)
			f.UserNS, f.NetNS = test.user, test.net
			argv := PayloadArgs{Word: "w", Report: true, Exit: 4}.Argv("/" + FileName)
			res := run(t, l, Job{Commands: []Command{{Argv: argv, Floor: f}}})
			c := res.Commands[0]
			p, err := ParsePayload(c.Stdout, "w")
			if err != nil {
				t.Fatalf("%v: %q %q %+v", err, c.Stdout, c.Stderr, c)
			}
			own := map[string]bool{"mnt": true, "pid": true, "ipc": true, "uts": true, "cgroup": true, "net": test.net, "user": test.user}
			for kind, want := range own {
				if got := p.Report["ns."+kind] != host[kind]; got != want || p.Report["ns."+kind] == "" {
					t.Errorf("namespace %s: inside %s, host %s, own: want %v", kind, p.Report["ns."+kind], host[kind], want)
				}
			}
			for key, want := range map[string]string{"pid": "1", "ppid": "0", "root.fs": "overlay", "mounts": "2", "pid1": FileName, "uid": "0"} {
				if p.Report[key] != want {
					t.Errorf("%s is %q, want %q", key, p.Report[key], want)
				}
			}
			if test.net && p.Report["net.names"] != "lo" {
				t.Errorf("interfaces %q", p.Report["net.names"])
			}
			if syscall.WaitStatus(c.Status).ExitStatus() != 4 {
				t.Errorf("status %#x", c.Status)
			}
			want := "cloned private overlay proc pivot exec"
			if test.user {
				want = "cloned mapped private overlay proc pivot exec"
			}
			names := make([]string, 0, len(c.Steps))
			last := c.Spawn
			for _, s := range c.Steps {
				names = append(names, s.Name)
				if s.At < last || s.At > c.Exec {
					t.Errorf("step %s at %d, after %d", s.Name, s.At, last)
				}
				last = s.At
			}
			if got := strings.Join(names, " "); got != want {
				t.Errorf("steps %q, want %q", got, want)
			}
			noMounts(t, f)
		})
	}
}

func TestFloorAsPID1(t *testing.T) {
	needRoot(t)
	l, _ := startLauncher(t, Options{})
	// Who ignores the signal uses its grace up, and who does not needs little of it.
	for on, grace := range map[string]time.Duration{"exit": 20e9, "ignore": 50e6} {
		argv := PayloadArgs{Word: "w", Stay: true, OnTerm: on}.Argv("/" + FileName)
		res := run(t, l, Job{Commands: []Command{
			{Argv: argv, Floor: tree(t), Background: true},
			{Await: AwaitReady, Signal: int(syscall.SIGTERM)},
			{Await: AwaitGrace, Grace: grace, Signal: int(syscall.SIGKILL)},
		}})
		p, err := ParsePayload(res.Commands[0].Stdout, "w")
		require.NoError(t, err)
		ws := syscall.WaitStatus(res.Commands[0].Status)
		if exits := ws.Exited() && p.Done != 0 && res.Commands[2].Skipped; exits != (on == "exit") {
			t.Errorf("%s: status %v, done %d", on, ws, p.Done)
		}
	}
}

func TestFloorFailures(t *testing.T) {
	needRoot(t)
	l, _ := startLauncher(t, Options{})
	argv := PayloadArgs{Word: "w"}.Argv("/" + FileName)
	missing := tree(t)
	missing.Lower += "/missing"
	res := run(t, l, Job{Commands: []Command{{Argv: argv, Floor: missing}}})
	if c := res.Commands[0]; c.Where != "mounting the overlay" || syscall.Errno(c.Errno) != syscall.ENOENT {
		t.Errorf("missing layer: %+v", c)
	}
	res = run(t, l, Job{Commands: []Command{{Argv: []string{"/nothing"}, Floor: tree(t)}}})
	if c := res.Commands[0]; c.Where != "exec" || syscall.Errno(c.Errno) != syscall.ENOENT {
		t.Errorf("missing program: %+v", c)
	}
}

func TestFloorKilledAtLimit(t *testing.T) {
	needRoot(t)
	l, _ := startLauncher(t, Options{})
	f := tree(t)
	argv := PayloadArgs{Word: "w", Stay: true, OnTerm: "ignore"}.Argv("/" + FileName)
	res := run(t, l, Job{Limit: 100e6, Commands: []Command{{Argv: argv, Floor: f}}})
	if !res.TimedOut || syscall.WaitStatus(res.Commands[0].Status).Signal() != syscall.SIGKILL {
		t.Errorf("result %+v", res)
	}
	noMounts(t, f)
}

// TestFloorWithoutRoot runs the launcher as another user, in a user namespace.
func TestFloorWithoutRoot(t *testing.T) {
	needUserNamespaces(t, true)
	needRoot(t) // to become somebody else; TestFloorIsolates covers who is nobody already
	l, path := startLauncher(t, Options{})
	dir := t.TempDir()
	require.Reachable(t, dir)
	require.NoError(t, os.Chmod(dir, 0o777))
	c := sh(t, `set -e; cd `+dir+`; mkdir l u w m; cp `+path+` l/`+FileName+`
exec `+path+` floor --user --net $PWD/l $PWD/u $PWD/w $PWD/m -- /`+FileName+` payload w --report`)
	c.SetUser, c.UID, c.GID = true, 1234, 2345
	res := run(t, l, Job{Commands: []Command{c}}).Commands[0]
	p, err := ParsePayload(res.Stdout, "w")
	if err != nil {
		if strings.Contains(string(res.Stderr), "floor") {
			t.Errorf("floor: %s", res.Stderr)
		}
		t.Fatalf("%v: %q", err, res.Stderr)
	}
	if p.Report["uid_map"] != "0 1234 1" || p.Report["gid_map"] != "0 2345 1" || p.Report["pid"] != "1" {
		t.Errorf("report %v", p.Report)
	}
	if !strings.Contains(string(res.Stderr), "us pivot\n") {
		t.Errorf("steps: %q", res.Stderr)
	}
}

func TestNativeChroot(t *testing.T) {
	needRoot(t)
	l, _ := startLauncher(t, Options{})
	f := tree(t)
	argv := PayloadArgs{Word: "w", Report: true}.Argv("/" + FileName)
	c := run(t, l, Job{Commands: []Command{{Argv: argv, Chroot: f.Lower}}}).Commands[0]
	p, err := ParsePayload(c.Stdout, "w")
	if err != nil {
		t.Fatalf("%v: %+v", err, c)
	}
	if p.Report["proc"] != "absent" || p.Report["pid"] == "1" {
		t.Errorf("report %v", p.Report)
	}
}
