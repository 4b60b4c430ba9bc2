package cni

import (
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/kittest"
	"plimsoll/internal/measure/host/proc"
)

// hardened makes the settings of a machine that its administrator has set with care:
// nothing is forwarded but from one interface, and no redirect is accepted.
func hardened(t *testing.T) map[string]string {
	t.Helper()
	const eth9 = "/proc/sys/net/ipv4/conf/eth9/forwarding"
	kittest.Command(t, "ip", "link", "add", "eth9", "type", "veth", "peer", "name", "far9")
	for _, s := range [][2]string{{forwardFile, "0"}, {redirectsFile, "0"}, {eth9, "1"}} {
		require.NoError(t, os.WriteFile(s[0], []byte(s[1]), 0))
	}
	return map[string]string{forwardFile: "0", redirectsFile: "0", eth9: "1",
		"/proc/sys/net/ipv4/conf/lo/forwarding": "0", "/proc/sys/net/ipv4/conf/default/forwarding": "0"}
}

func now(t *testing.T, of map[string]string) map[string]string {
	t.Helper()
	is := map[string]string{}
	for file := range of {
		text, err := readSetting(file)
		require.NoError(t, err)
		is[file] = text
	}
	return is
}

// sweep does what the sweep does with the settings of a ledger.
func sweep(t *testing.T, kit *engine.Kit) (errs []error) {
	t.Helper()
	for _, s := range engine.OfKind(kit.Ledger.Left(), engine.KindSetting) {
		_, err := PutBack(t.Context(), kit, s)
		if err == nil {
			err = kit.Ledger.Gone(s)
		}
		if err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

// routed is a kit whose run has a network in which packets are forwarded.
func routed(t *testing.T) (*engine.Kit, *Network) {
	t.Helper()
	kit, n, a := attached(t)
	require.NoError(t, a.Detach(t.Context()))
	if on, err := readSetting(forwardFile); err != nil || on != "1" {
		t.Fatalf("the plug-in has not switched forwarding on: %q, %v", on, err)
	}
	return kit, n
}

// TestForwarding: the last network of a run puts back what the kernel has changed with
// the switch, and not only the switch.
func TestForwarding(t *testing.T) {
	if !kittest.OwnNetwork(t) {
		return
	}
	was := hardened(t)
	kit, n := routed(t)
	other, err := newNetwork(t.Context(), kit, PTP)
	require.NoError(t, err)
	require.NoError(t, n.close(t.Context()))
	if on, err := readSetting(forwardFile); err != nil || on != "1" {
		t.Errorf("another network of the run needs it still: %q, %v", on, err)
	}
	require.NoError(t, other.close(t.Context()))
	if is := now(t, was); !maps.Equal(is, was) {
		t.Errorf("it was %v, and is %v", was, is)
	}
	if left := kit.Ledger.Left(); len(left) > 0 {
		t.Errorf("the ledger still has %v", left)
	}
}

// TestForwardingAfterAKill: what a killed run has switched on is switched off by what its
// ledger says, and stays where somebody else has a say in it by now.
func TestForwardingAfterAKill(t *testing.T) {
	const dying = "PLIMSOLL_TEST_DYING"
	if file := os.Getenv(dying); file != "" {
		_, n := routed(t)
		for _, it := range n.kit.Ledger.Left() {
			f, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
			require.NoError(t, err)
			_, err = f.WriteString(strings.Join([]string{it.Kind, it.Name, it.At, it.Was, n.kit.RunID}, "\t") + "\n")
			require.NoError(t, err)
			require.NoError(t, f.Close())
		}
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	if !kittest.OwnNetwork(t) {
		return
	}
	was := hardened(t)
	on := map[string]string{}
	for file := range was {
		on[file] = "1"
	}
	on[redirectsFile] = "0"
	for _, c := range []struct {
		name  string
		since func(t *testing.T, kit *engine.Kit)
		want  map[string]string
		err   string
		told  string // why it is left on
	}{
		{"nobody needs it", func(*testing.T, *engine.Kit) {}, was, "", ""},
		{"a user's bridge", func(t *testing.T, _ *engine.Kit) {
			t.Helper()
			kittest.Command(t, "ip", "link", "add", "br-user", "type", "bridge")
			t.Cleanup(func() { kittest.Command(t, "ip", "link", "del", "br-user") })
		}, on, "", "net.ipv4.ip_forward, which run RUN switched on: br-user, made since, may need it; where nobody does: " +
			"sysctl -w net.ipv4.ip_forward=0 net.ipv4.conf.all.accept_redirects=0 net.ipv4.conf.eth9.forwarding=1"},
		{"another run of ours", func(t *testing.T, _ *engine.Kit) {
			t.Helper()
			kittest.Command(t, "ip", "link", "add", bridgePrefix+"other123", "type", "bridge")
			t.Cleanup(func() { kittest.Command(t, "ip", "link", "del", bridgePrefix+"other123") })
		}, on, "other123", ""},
		{"a port of an old bridge", func(t *testing.T, _ *engine.Kit) {
			t.Helper()
			kittest.Command(t, "ip", "link", "add", "port0", "type", "veth", "peer", "name", "port1")
			kittest.Command(t, "ip", "link", "set", "port0", "master", "old-bridge")
			kittest.Command(t, "ip", "link", "set", "port1", "master", "old-bridge")
			t.Cleanup(func() { kittest.Command(t, "ip", "link", "del", "port0") })
		}, was, "", ""},
		{"its owner has switched it off, and accepts redirects", func(t *testing.T, kit *engine.Kit) {
			t.Helper()
			require.NoError(t, os.WriteFile(forwardFile, []byte("0"), 0))
			for _, s := range engine.OfKind(kit.Ledger.Left(), engine.KindSetting)[1:] {
				require.NoError(t, kit.Ledger.Gone(s)) // it was so before, too
			}
		}, map[string]string{forwardFile: "0", redirectsFile: "1"}, "", ""},
		{"the machine was booted since", func(t *testing.T, kit *engine.Kit) {
			t.Helper()
			for _, s := range engine.OfKind(kit.Ledger.Left(), engine.KindSetting) {
				require.NoError(t, kit.Ledger.Gone(s))
				s.At = strings.Replace(s.At, "boot ", "boot x", 1)
				require.NoError(t, kit.Ledger.Made(s))
			}
		}, on, "", ""},
		{"its network namespace is gone", func(t *testing.T, kit *engine.Kit) { t.Helper(); elsewhere(t, kit, "net:[1]") }, on, "", ""},
		{"another network namespace", func(t *testing.T, kit *engine.Kit) {
			t.Helper()
			cmd := exec.Command("sleep", "100")
			cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
			require.NoError(t, cmd.Start())
			t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
			link, err := os.Readlink("/proc/" + proc.PID(cmd.Process.Pid) + "/ns/net")
			require.NoError(t, err)
			elsewhere(t, kit, link)
		}, on, "run plimsoll clean in it", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			_ = exec.Command("ip", "link", "add", "old-bridge", "type", "bridge").Run() // it is there the next time
			for _, file := range slices.SortedFunc(maps.Keys(was), switchFirst) {
				require.NoError(t, os.WriteFile(file, []byte(was[file]), 0))
			}
			require.NoError(t, os.WriteFile(redirectsFile, []byte("0"), 0)) // the switch has changed it
			kit := killed(t)
			if is := now(t, on); !maps.Equal(is, on) {
				t.Fatalf("the killed run has left %v, want %v", is, on)
			}
			c.since(t, kit)
			told := ""
			kit.LeftOn = func(what string) { told += what }
			errs := sweep(t, kit)
			if want := strings.Replace(c.told, "RUN", kit.RunID, 1); told != want {
				t.Errorf("it is told that %q is left on, want %q", told, want)
			}
			if (c.err == "") != (len(errs) == 0) || len(errs) > 0 && !strings.Contains(errs[0].Error(), c.err) {
				t.Errorf("the sweep says %v, want %q", errs, c.err)
			}
			if is := now(t, c.want); !maps.Equal(is, c.want) {
				t.Errorf("it is %v, want %v", is, c.want)
			}
			if left := engine.OfKind(kit.Ledger.Left(), engine.KindSetting); len(left) != len(errs) {
				t.Errorf("the ledger has %v", left)
			}
		})
	}
}

// switchFirst has the switch come before what the kernel changes with it.
func switchFirst(a, b string) int {
	switch {
	case a == forwardFile:
		return -1
	case b == forwardFile:
		return 1
	}
	return strings.Compare(a, b)
}

func elsewhere(t *testing.T, kit *engine.Kit, namespace string) {
	t.Helper()
	for _, s := range engine.OfKind(kit.Ledger.Left(), engine.KindSetting) {
		at, err := parseInstant(s.At)
		require.NoError(t, err)
		require.NoError(t, kit.Ledger.Gone(s))
		s.At = strings.Replace(s.At, at.namespace, namespace, 1)
		require.NoError(t, kit.Ledger.Made(s))
	}
}

// killed gives the ledger of a run that had a network and was killed, whose bridge is
// gone by now.
func killed(t *testing.T) *engine.Kit {
	t.Helper()
	file := t.TempDir() + "/ledger"
	top, _, _ := strings.Cut(t.Name(), "/")
	cmd := exec.Command(os.Args[0], "-test.run=^"+top+"$")
	cmd.Env = append(os.Environ(), "PLIMSOLL_TEST_DYING="+file, "TMPDIR="+t.TempDir()) // it clears nothing away
	if out, err := cmd.CombinedOutput(); err == nil || cmd.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("it was not killed: %v\n%s", err, out)
	}
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	kit := &engine.Kit{Root: true, Ledger: &kittest.Ledger{}}
	for line := range strings.Lines(string(text)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		kit.RunID = f[4]
		it := engine.Thing{Kind: f[0], Name: f[1], At: f[2], Was: f[3]}
		if it.Kind == engine.KindLink {
			_, err := Remove(t.Context(), kit, it)
			require.NoError(t, err)
			continue
		}
		require.NoError(t, kit.Ledger.Made(it))
	}
	if !slices.ContainsFunc(kit.Ledger.Left(), func(t engine.Thing) bool { return t.Name == forwardFile }) {
		t.Fatalf("its ledger does not name the switch: %v", kit.Ledger.Left())
	}
	time.Sleep(10 * time.Millisecond)
	return kit
}

// TestSettable: an entry is believed for the settings that a network of ours changes,
// and for the value that each may have had.
func TestSettable(t *testing.T) {
	for it, want := range map[engine.Thing]bool{
		{Name: forwardFile, Was: "0"}:                                        true,
		{Name: forwardFile, Was: "1"}:                                        false,
		{Name: "/proc/sys/net/ipv4/conf/eth0.5/forwarding", Was: "1"}:        true,
		{Name: "/proc/sys/net/ipv4/conf/eth0/forwarding", Was: "0"}:          false,
		{Name: "/proc/sys/net/ipv4/conf/../forwarding", Was: "1"}:            false,
		{Name: "/proc/sys/net/ipv4/conf/eth0/rp_filter", Was: "0"}:           false,
		{Name: "/proc/sys/kernel/core_pattern", Was: "0"}:                    false,
		{Name: "/etc/passwd", Was: "0"}:                                      false,
		{Name: "/proc/sys/net/ipv4/conf/all/../../ip_forward", Was: "0"}:     false,
		{Name: "/proc/sys/net/ipv4/conf/all/accept_redirects", Was: "0"}:     true,
		{Name: "/proc/sys/net/ipv4/conf/default/accept_redirects", Was: "0"}: false,
	} {
		if settable(it) != want {
			t.Errorf("%s to %s: %v, want %v", it.Name, it.Was, !want, want)
		}
		if !want {
			kit := &engine.Kit{Ledger: &kittest.Ledger{}}
			if did, err := PutBack(t.Context(), kit, it); did || err == nil {
				t.Errorf("%s is put back to %s", it.Name, it.Was)
			}
		}
	}
}
