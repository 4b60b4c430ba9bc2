//go:build linux

package catalogue

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine/kittest"
)

// listenAt is where TestMain listens, in the process that stands for a service manager.
const listenAt = "PLIMSOLL_TEST_LISTEN_AT"

func TestMain(m *testing.M) {
	if path := os.Getenv(listenAt); path != "" {
		if err := listenAsManager(path); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

// listenAsManager listens as systemd does for a service that does not run, and says on
// standard output when it listens and of each connection.
func listenAsManager(path string) error {
	if err := os.WriteFile("/proc/self/comm", []byte("systemd"), 0); err != nil {
		return err
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return err
	}
	fmt.Println("listening")
	for {
		conn, err := l.Accept()
		if err != nil {
			return err
		}
		fmt.Println("connected")
		_ = conn.Close()
	}
}

// Looking at an engine must not start it: a user's idle daemon would disturb what is
// measured, and was not asked for. A connection to the socket is what starts it.
func TestLookingStartsNothing(t *testing.T) {
	dir := t.TempDir()
	socket := filepath.Join(dir, "s")
	manager := exec.Command(os.Args[0])
	manager.Env = append(os.Environ(), listenAt+"="+socket)
	out, err := manager.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, manager.Start())
	said := bufio.NewScanner(out)
	if said.Scan(); said.Text() != "listening" {
		t.Fatalf("the listener says %q", said.Text())
	}
	systemctl := filepath.Join(dir, "systemctl")
	script := "#!/bin/sh\ncase $* in *list-sockets*) echo '" + socket + " idle.socket idle.service';; *) echo inactive; exit 3;; esac\n"
	require.NoError(t, os.WriteFile(systemctl, []byte(script), 0o755)) //nolint:gosec // a program
	kit := kittest.Bare(t)
	kit.LookPath = func(name string) (string, error) {
		if name == "systemctl" {
			return systemctl, nil
		}
		return exec.LookPath(name)
	}
	kit.Getenv = func(name string) string {
		switch name {
		case "LXD_SOCKET", "INCUS_SOCKET", "CONTAINERD_ADDRESS":
			return socket
		case "DOCKER_HOST", "BALENA_HOST", "CONTAINER_HOST", "CONTAINER_RUNTIME_ENDPOINT":
			return "unix://" + socket
		}
		return os.Getenv(name)
	}
	idle := map[string]bool{"docker": true, "balena": true, "containerd": true, "cri": true, "lxd": true, "incus": true}
	for _, e := range All() {
		name := e.Info().Name
		d := e.Detect(t.Context(), kit)
		if said := d.Reason + " " + d.Fix; idle[name] &&
			(d.Usable || !strings.Contains(said, "socket-activated") || !strings.Contains(said, "systemctl start idle.service")) {
			t.Errorf("%s, whose service is idle: usable %v, %q, fix %q", name, d.Usable, d.Reason, d.Fix)
		}
	}
	require.NoError(t, manager.Process.Kill())
	for said.Scan() {
		t.Errorf("an engine that was only looked at: %s", said.Text())
	}
	_ = manager.Wait() // it was killed
}
