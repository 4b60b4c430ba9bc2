package kittest

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"plimsoll/internal/common/require"
)

// OwnNetwork runs the test or subtest that calls it once more, in network and
// mount namespaces of its own in which bridged packets go through the packet
// filter, and says whether this is that one: what it does to links and packet
// filters ends with it. programs are needed in addition.
func OwnNetwork(t *testing.T, programs ...string) bool {
	t.Helper()
	if testing.Short() {
		t.Skip("makes network namespaces: left out with -short")
	}
	if os.Geteuid() != 0 {
		t.Skip("network namespaces and packet filters are root's")
	}
	for _, p := range append([]string{"ip", "nsenter"}, programs...) {
		if _, err := exec.LookPath(p); err != nil {
			t.Skipf("%s is not installed", p)
		}
	}
	if os.Getenv(insideKey) == t.Name() {
		isolate(t)
		return true
	}
	again(t, exec.Command(os.Args[0]), &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET | syscall.CLONE_NEWNS})
	return false
}

// isolate makes /sys show the new namespace's links, and switches bridge
// netfilter on.
func isolate(t *testing.T) {
	t.Helper()
	Command(t, "mount", "--make-rprivate", "/")
	Command(t, "mount", "-t", "sysfs", "sysfs", "/sys")
	Command(t, "ip", "link", "set", "lo", "up")
	if err := os.WriteFile("/proc/sys/net/bridge/bridge-nf-call-iptables", []byte("1"), 0); err != nil {
		t.Skipf("the kernel has no bridge netfilter for network namespaces of their own: %v", err)
	}
}

// Command runs a program that must succeed, and gives what it says.
func Command(t *testing.T, argv ...string) string {
	t.Helper()
	out, err := exec.Command(argv[0], argv[1:]...).Output()
	if err != nil {
		said := ""
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			said = string(exit.Stderr)
		}
		t.Fatalf("%s: %v: %s", strings.Join(argv, " "), err, said)
	}
	return string(out)
}

// Peers are two network namespaces on a bridge, as containers are.
type Peers struct {
	Namespace [2]string // files
	Address   [2]netip.Addr
}

// NewPeers makes a bridge and two namespaces on it, in the network 10.9.N.0/24.
// It is for tests inside OwnNetwork.
func NewPeers(t *testing.T, bridge string, n int) Peers {
	t.Helper()
	var p Peers
	Command(t, "ip", "link", "add", bridge, "type", "bridge")
	Command(t, "ip", "addr", "add", fmt.Sprintf("10.9.%d.1/24", n), "dev", bridge)
	Command(t, "ip", "link", "set", bridge, "up")
	for i := range p.Namespace {
		hold := exec.Command("sleep", "600")
		hold.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
		require.NoError(t, hold.Start())
		t.Cleanup(func() {
			_ = hold.Process.Kill()
			_ = hold.Wait() // it was killed
		})
		pid := strconv.Itoa(hold.Process.Pid)
		p.Namespace[i] = filepath.Join("/proc", pid, "ns/net")
		p.Address[i] = netip.MustParseAddr(fmt.Sprintf("10.9.%d.1%d", n, i))
		veth := fmt.Sprintf("v%d-%d", n, i)
		Command(t, "ip", "link", "add", veth, "type", "veth", "peer", "name", "eth0", "netns", pid)
		Command(t, "ip", "link", "set", veth, "master", bridge, "up")
		Command(t, "nsenter", "--net="+p.Namespace[i], "ip", "addr", "add", p.Address[i].String()+"/24", "dev", "eth0")
		Command(t, "nsenter", "--net="+p.Namespace[i], "ip", "link", "set", "eth0", "up")
	}
	return p
}
