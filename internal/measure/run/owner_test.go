package run

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/common/filelock"
	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/host/proc"
)

// TestFate: a process is gone only where that can be seen from here.
func TestFate(t *testing.T) {
	us, err := proc.Here.Stat(os.Getpid())
	require.NoError(t, err)
	now := here()
	if now.Boot == "" || now.PIDs == "" || now.Host == "" {
		t.Fatalf("we are at %+v", now)
	}
	container := origin{now.Boot, "pid:[1]", "c0ffee"}
	earlier := origin{"x", now.PIDs, now.Host}
	node := origin{"x", now.PIDs, "node1"}
	for _, c := range []struct {
		name  string
		at    origin
		start string
		locks bool
		look  error
		want  fate
	}{
		{"of before there was a place, going on", origin{}, us.StartText(), false, nil, alive},
		{"of before there was a place, and its number given away", origin{}, "x", false, nil, gone},
		{"here, going on", now, us.StartText(), true, filelock.ErrLocked, alive},
		{"here, going on without locks", now, us.StartText(), false, nil, alive},
		{"here, and ended", now, "x", true, nil, gone},
		{"in a container, without locks", container, us.StartText(), false, nil, unseen},
		{"in a container, and the lock can't be looked at", container, "x", true, errors.ErrUnsupported, unseen},
		{"in a container, going on", container, "x", true, filelock.ErrLocked, alive},
		{"in a container, and ended", container, us.StartText(), true, nil, gone},
		{"of an earlier boot, with our very number and start", earlier, us.StartText(), false, nil, gone},
		{"of another machine of our name", earlier, "x", true, filelock.ErrLocked, alive},
		{"of another node", node, "x", false, nil, unseen},
		{"of another node, on a file system that locks for one node", node, "x", true, nil, unseen},
		{"of another node, going on", node, "x", true, filelock.ErrLocked, alive},
	} {
		o := Owner{PID: os.Getpid(), Start: c.start, origin: c.at, Locks: c.locks, look: c.look}
		if got := o.fate(now); got != c.want {
			t.Errorf("%s: %d, not %d", c.name, got, c.want)
		}
	}
}

// TestEnded: a process that nobody reaps has ended, and one that can't be read has not.
func TestEnded(t *testing.T) {
	c := exec.CommandContext(t.Context(), "sleep", "100")
	require.NoError(t, c.Start())
	st, err := proc.Here.Stat(c.Process.Pid)
	require.NoError(t, err)
	o := Owner{PID: c.Process.Pid, Start: st.StartText()}
	if !o.runs(proc.Here) {
		t.Error("a process that runs has ended")
	}
	require.NoError(t, c.Process.Kill())
	for st.State != 'Z' {
		if st, err = proc.Here.Stat(c.Process.Pid); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond)
	}
	if o.runs(proc.Here) {
		t.Error("a process that has ended runs as long as nobody reaps it")
	}
	_ = c.Wait() // it was killed
	if o.runs(proc.Here) {
		t.Error("a process that is gone runs")
	}

	made := proc.Dir(t.TempDir())
	if !o.runs(made) {
		t.Error("where nothing is a process is gone")
	}
	text, err := os.ReadFile("/proc/self/stat")
	require.NoError(t, err)
	self := filepath.Join(string(made), proc.PID(os.Getpid()))
	require.NoError(t, errors.Join(os.Mkdir(self, 0o755), os.WriteFile(filepath.Join(self, "stat"), text, 0o644)))
	if o.runs(made) {
		t.Error("a process that is not there runs")
	}
	require.NoError(t, os.MkdirAll(filepath.Join(string(made), proc.PID(o.PID), "stat"), 0o755))
	if !o.runs(made) {
		t.Error("a process that can't be read is gone")
	}
}

// TestElsewhere: what a run of another node has made is not touched, before somebody
// says that the node is no more.
func TestElsewhere(t *testing.T) {
	one := newHolder("one", "c1")
	o := cleaning(t, one)
	id := leave(t, o.State, engine.Thing{Kind: engine.KindContainer, Name: "c1", Engine: "one"})
	proof, err := json.Marshal(Owner{RunID: id, PID: 1, Start: "x", origin: origin{"x", "pid:[1]", "node1"}})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(o.State.RunDir(id), ownerFile), proof, 0o644))
	if !o.State.live(id) {
		t.Error("its images would be forgotten")
	}
	for _, of := range [][]string{nil, {"node2"}} {
		c, err := Clean(t.Context(), o, false, of...)
		if err != nil || len(c.Runs) > 0 || len(c.Elsewhere) != 1 || c.Elsewhere[0].RunID != id || one.asked > 0 {
			t.Fatalf("%+v, asked %d times: %v", c, one.asked, err)
		}
	}
	if over, err := o.State.Abandoned(); err != nil || len(over) > 0 {
		t.Errorf("the next run would clean up after %v: %v", over, err)
	}
	c, err := Clean(t.Context(), o, false, "node1")
	if err != nil || !slices.Equal(c.Runs, []string{id}) || len(c.Elsewhere) > 0 || len(one.has) > 0 {
		t.Errorf("%+v, and the engine has %v: %v", c, one.has, err)
	}
}

// TestClaimInAUserNamespace: where the user of rootless engines has no number, as for root in
// a user namespace of its own, a run has its folder all the same.
func TestClaimInAUserNamespace(t *testing.T) {
	const unmapped = 65533
	if dir := os.Getenv(claimsIn); dir != "" {
		_, err := State{dir}.Claim("abcd1234", "/out", &engine.User{Name: "somebody", UID: unmapped, GID: unmapped})
		fmt.Println("claimed:", err)
		return
	}
	unshare, err := exec.LookPath("unshare")
	if err != nil {
		t.Skip("user namespaces need unshare: ", err)
	}
	self, err := os.Executable()
	require.NoError(t, err)
	c := exec.CommandContext(t.Context(), unshare, "--user", "--map-root-user", self, "-test.run", "^TestClaimInAUserNamespace$")
	c.Env = append(os.Environ(), claimsIn+"="+t.TempDir())
	out, err := c.CombinedOutput()
	if strings.HasPrefix(string(out), "unshare: ") {
		t.Skipf("no user namespace can be had here: %v: %q", err, out)
	}
	if !strings.Contains(string(out), "claimed: <nil>\n") {
		t.Errorf("%v: %s", err, out)
	}
}

// claimsIn says to TestClaimInAContainer where to claim.
const claimsIn = "PLIMSOLL_TEST_CLAIMS_IN"

// TestClaimInAContainer: a container with process numbers of its own that shares the
// state directory is seen to go on, and to have ended.
func TestClaimInAContainer(t *testing.T) {
	const id = "abcd1234"
	if dir := os.Getenv(claimsIn); dir != "" {
		_, err := State{dir}.Claim(id, "/out", nil)
		fmt.Println("claimed:", err)
		_, _ = io.Copy(io.Discard, os.Stdin) // until we are killed
		return
	}
	unshare, err := exec.LookPath("unshare")
	if err != nil || os.Geteuid() != 0 {
		t.Skip("namespaces need root and unshare: ", err)
	}
	self, err := os.Executable()
	require.NoError(t, err)
	s := State{t.TempDir()}
	c := exec.CommandContext(t.Context(), unshare, "--pid", "--fork", "--kill-child", "--mount-proc", self, "-test.run", "^TestClaimInAContainer$")
	c.Env = append(os.Environ(), claimsIn+"="+s.Dir)
	in, err := c.StdinPipe()
	require.NoError(t, err)
	out, err := c.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	said, _ := bufio.NewReader(out).ReadString('\n')
	if said != "claimed: <nil>\n" {
		_ = c.Process.Kill()
		_ = c.Wait()
		if strings.HasPrefix(said, "claimed") {
			t.Fatal(said)
		}
		t.Skipf("no namespace of processes can be had here: %q", said)
	}
	if over, err := s.Abandoned(); err != nil || len(over) > 0 || !s.live(id) {
		t.Errorf("taken for one that was cut off: %v %v", over, err)
	}
	if _, err := s.Claim(id, "", nil); err == nil || !strings.Contains(err.Error(), "is measuring") {
		t.Errorf("a run that is under way was claimed: %v", err)
	}
	require.NoError(t, c.Process.Kill())
	_ = c.Wait() // it was killed
	in.Close()
	for wait := time.Millisecond; ; wait *= 2 {
		over, err := s.Abandoned()
		if err == nil && len(over) == 1 {
			break
		}
		if wait > 16*time.Second {
			t.Fatalf("that it has ended is not seen: %v %v", over, err)
		}
		time.Sleep(wait) // the kernel ends it
	}
}
