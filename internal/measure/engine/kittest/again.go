package kittest

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// insideKey is set in a process that runs a test again in namespaces of its own; its
// value is the test's name.
const insideKey = "PLIMSOLL_TEST_INSIDE"

// again runs the calling test once more by a command that ends with the test's program.
func again(t *testing.T, cmd *exec.Cmd, attr *syscall.SysProcAttr) {
	t.Helper()
	cmd.Args = append(cmd.Args, "-test.v", "-test.run=^"+strings.ReplaceAll(t.Name(), "/", "$/^")+"$")
	for _, a := range os.Args[1:] {
		if strings.HasPrefix(a, "-test.gocoverdir") || strings.HasPrefix(a, "-test.timeout") {
			cmd.Args = append(cmd.Args, a)
		}
	}
	cmd.Env = append(os.Environ(), insideKey+"="+t.Name())
	attr.Pdeathsig = syscall.SIGKILL
	cmd.SysProcAttr = attr
	out, err := cmd.CombinedOutput()
	t.Logf("in namespaces of its own:\n%s", out)
	switch {
	case err != nil:
		t.Fatal(err)
	case strings.Contains(string(out), "--- SKIP: "+t.Name()+" "):
		t.Skip("skipped inside, as said above")
	case !strings.Contains(string(out), "--- PASS: "+t.Name()+" "):
		t.Fatal("it did not run inside")
	}
}

// NoUserNamespaces runs the test that calls it once more where the kernel lets nobody
// make user namespaces, and says whether this is that run. The setting is one of the user
// namespace that the run is in; nobody else's changes.
func NoUserNamespaces(t *testing.T) bool {
	t.Helper()
	const setting = "/proc/sys/user/max_user_namespaces"
	if os.Getenv(insideKey) == t.Name() {
		return true
	}
	attr := &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}, GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}}
	if err := (&exec.Cmd{Path: "/bin/true", SysProcAttr: attr}).Run(); err != nil {
		t.Skipf("a user namespace can't be made here: %v", err)
	}
	again(t, exec.Command("/bin/sh", "-c", "echo 0 >"+setting+" && exec \"$0\" \"$@\"", os.Args[0]), attr)
	return false
}
