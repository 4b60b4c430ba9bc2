// Package ctrtest has a start of containerd's for tests to follow, by its own client and from
// a directory, in which any program may be a part.
package ctrtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"plimsoll/internal/common/require"
)

// Needs finds a program, or skips.
func Needs(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skip(name + " is not installed: the lab has it (lab/setup)")
	}
	return path
}

// Rootfs makes a directory with one static program, /busybox.
func Rootfs(t testing.TB, dir string) string {
	t.Helper()
	b, err := os.ReadFile(Needs(t, "busybox"))
	require.NoError(t, err)
	root := filepath.Join(dir, "rootfs")
	for _, d := range []string{"dev", "proc", "sys"} { // runtimes look there
		require.NoError(t, os.MkdirAll(filepath.Join(root, d), 0o755))
	}
	require.NoError(t, os.WriteFile(filepath.Join(root, "busybox"), b, 0o755)) //nolint:gosec // it is executed
	return root
}

// Start is a start of the lab's containerd, or of the machine's own, from a directory, by
// its own client, with more options. What is left of it goes when the test ends.
func Start(t testing.TB, more ...string) []string {
	t.Helper()
	program := Needs(t, "ctr")
	for _, socket := range []string{"/run/plimsoll-lab/containerd/containerd.sock", "/run/containerd/containerd.sock"} {
		if exec.Command(program, "--address", socket, "--timeout", "2s", "version").Run() != nil {
			continue
		}
		root := Rootfs(t, t.TempDir())
		id, space := fmt.Sprintf("blind-%d", os.Getpid()), fmt.Sprintf("plimsoll-blind-%d", os.Getpid())
		argv := []string{program, "--address", socket, "--namespace", space}
		t.Cleanup(func() {
			_ = exec.Command(program, append(argv[1:], "tasks", "delete", "--force", id)...).Run()
			_ = exec.Command(program, append(argv[1:], "containers", "delete", id)...).Run()
			_ = exec.Command(program, "--address", socket, "namespaces", "remove", space).Run()
			withoutGroups(t, space)
		})
		argv = append(append(argv, "run", "--rm"), more...)
		return append(argv, "--rootfs", root, id, "/busybox", "true")
	}
	t.Skip("containerd does not run here (lab/up starts one)")
	return nil
}

// withoutGroups removes the control groups that a namespace of containerd's is given,
// which are empty when its containers are gone, and outlive it.
func withoutGroups(t testing.TB, space string) {
	t.Helper()
	of := func() (all []string) {
		for _, pattern := range []string{"/sys/fs/cgroup/", "/sys/fs/cgroup/*/"} {
			found, _ := filepath.Glob(pattern + space)
			all = append(all, found...)
		}
		return all
	}
	for range 50 { // the kernel is not done with the last process at once
		for _, dir := range of() {
			_ = os.Remove(dir)
		}
		if len(of()) == 0 {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Errorf("control groups are left: %q", of())
}
