//go:build !unit

package vmtest

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/portable"
	"plimsoll/internal/measure/portable/portabletest"
)

// dockerMachine is a machine with a Docker daemon of the distribution's, which is reached
// from here by TCP with TLS alone.
type dockerMachine struct {
	*running
	around portable.Surroundings // in which Docker's client finds it
	far    portable.Address
	line   net.Conn // the machine's second serial line
}

// bootDocker gives one that answers. A port of the loopback is forwarded into the machine,
// and out of it leads nothing.
func bootDocker(t *testing.T) *dockerMachine {
	t.Helper()
	need(t)
	modules, _ := os.ReadFile(filepath.Join(kernelDir(), "modules")) // an earlier lab has none
	if !slices.Contains(strings.Fields(string(modules)), "virtio_net") {
		t.Skip("the kernel is here without the driver of a network card: lab/engines/vm up brings one with it")
	}
	r := newRoot(t)
	r.copy("testdata/common.sh", "/common.sh")
	r.copy("testdata/docker.sh", "/init")
	for _, p := range []string{"dockerd", "containerd", "containerd-shim-runc-v2", "runc"} {
		if !r.program(p) {
			t.Skipf("%s is not installed: lab/engines/docker up installs it", p)
		}
	}
	dir := t.TempDir()
	a, err := portabletest.NewAuthority()
	require.NoError(t, err)
	require.NoError(t, a.Issue(filepath.Join(dir, "server"), "127.0.0.1", x509.ExtKeyUsageServerAuth))
	require.NoError(t, a.Issue(filepath.Join(dir, "client"), "a client", x509.ExtKeyUsageClientAuth))
	for _, name := range []string{"ca.pem", "cert.pem", "key.pem"} {
		r.copy(filepath.Join(dir, "server", name), "/tls/"+name)
	}
	disk, line, port := r.disk(), filepath.Join(dir, "line"), freePort(t)
	m := &dockerMachine{}
	m.running = start(t, disk, "cgroup_no_v1=all",
		"-netdev", fmt.Sprintf("user,id=far,restrict=on,hostfwd=tcp:127.0.0.1:%d-10.0.2.15:2376", port),
		"-device", "virtio-net-pci,netdev=far,romfile=", // nothing is booted from it
		"-serial", "unix:"+line+",server=on,wait=off")
	settings := map[string]string{"DOCKER_HOST": fmt.Sprintf("tcp://127.0.0.1:%d", port), "DOCKER_TLS_VERIFY": "1", "DOCKER_CERT_PATH": filepath.Join(dir, "client")}
	m.around = portable.Surroundings{Getenv: func(name string) string { return settings[name] }, LookPath: exec.LookPath, Home: dir, System: "linux"}
	m.far, err = m.around.Find(portable.Docker)
	require.NoError(t, err)
	m.hears("the daemon is started")
	m.line, err = net.Dial("unix", line)
	require.NoError(t, err)
	t.Cleanup(func() { m.line.Close() })
	m.await()
	return m
}

// await waits until the daemon answers; the log of one that does not is brought out.
func (m *dockerMachine) await() {
	m.t.Helper()
	for begin := time.Now(); ; time.Sleep(500 * time.Millisecond) {
		d, err := m.far.Connect("")
		if err == nil {
			err = errors.Join(d.Greet(m.t.Context()), d.Close())
		}
		if err == nil {
			return
		}
		select {
		case <-m.over:
			m.end()
			m.t.Fatalf("the machine ended before its daemon answered: %v", err)
		default:
		}
		if time.Since(begin) > silent/2 {
			m.goOn()
			m.goOn()
			m.t.Fatalf("the daemon does not answer: %v; its log:\n%s", err, results{m.t, m.end()}.text("dockerd.log"))
		}
	}
}

// goOn lets the machine's script go on.
func (m *dockerMachine) goOn() {
	m.t.Helper()
	_, err := fmt.Fprintln(m.line, "go on")
	require.NoError(m.t, err)
}

// freePort is one of the loopback's that nobody has at the moment.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}
