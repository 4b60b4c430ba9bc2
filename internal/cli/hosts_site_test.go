package cli

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/fleet"
	"plimsoll/internal/measure/host/proc"
	"plimsoll/internal/record"
)

// farUser is somebody who measures hosts from here.
type farUser struct {
	*farHosts
	t    *testing.T
	work string
}

// farSite makes hosts for a test that takes longer.
func farSite(t *testing.T, extra map[string]string, names ...string) *farUser {
	t.Helper()
	if !*atSite {
		t.Skip("takes half a minute: make test-site runs it")
	}
	return farOf(t, extra, names...)
}

// farOf makes hosts for any test.
func farOf(t *testing.T, extra map[string]string, names ...string) *farUser {
	t.Helper()
	if why := withoutFar(); why != "" {
		t.Skip(why)
	}
	u := &farUser{t: t, work: t.TempDir()}
	for name, text := range extra {
		dir := filepath.Join(u.work, "far", name)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "extra"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f, err := newFarHosts(filepath.Join(u.work, "far"), names...)
	t.Cleanup(f.close)
	if err != nil {
		t.Fatal(err)
	}
	u.farHosts = f
	const study = "plimsoll: 1\nname: far\nprotocol: {blocks: %d, warmup: 0, pause: %s}\nworkloads: [hello]\nenvironments: %s\n"
	for name, text := range map[string]string{"long.yaml": fmt.Sprintf(study, 30, "250ms", "[host, floor]"), "short.yaml": fmt.Sprintf(study, 2, "1ms", "[{engine: fake, runtime: [fast, slow]}]")} {
		if err := os.WriteFile(filepath.Join(u.work, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return u
}

// farRun is a plimsoll that measures hosts.
type farRun struct {
	*farUser
	cmd  *exec.Cmd
	said bytes.Buffer
	done chan struct{}
	// limit is how long it may take, from when it is waited for.
	limit time.Duration
}

func (u *farUser) begin(args ...string) *farRun {
	u.t.Helper()
	return u.launch(exec.Command("plimsoll", args...))
}

func (u *farUser) launch(cmd *exec.Cmd) *farRun {
	u.t.Helper()
	r := &farRun{farUser: u, cmd: cmd, done: make(chan struct{}), limit: 2 * time.Minute}
	r.cmd.Dir = u.work
	r.cmd.Env = append(append(os.Environ(), r.cmd.Env...), "PATH="+u.dir+"/bin:"+os.Getenv("PATH"), "XDG_RUNTIME_DIR="+u.work, "PLIMSOLL_STATE="+u.work+"/state", "CI=1")
	r.cmd.Stderr = &r.said
	if r.cmd.Stdout != nil {
		r.cmd.Stdout = r.cmd.Stderr
	}
	if err := r.cmd.Start(); err != nil {
		u.t.Fatal(err)
	}
	go func() {
		_ = r.cmd.Wait() // its status is asked for
		close(r.done)
	}()
	u.t.Cleanup(func() {
		_ = r.cmd.Process.Kill()
		<-r.done
	})
	return r
}

// end demands how it ends, and that it says all of these patterns.
func (r *farRun) end(status Status, patterns ...string) {
	r.t.Helper()
	select {
	case <-r.done:
	case <-time.After(r.limit):
		r.t.Fatalf("it has not ended, having said:\n%s", logOf(r))
	}
	if got := r.cmd.ProcessState.ExitCode(); got != int(status) {
		r.t.Errorf("status %d, want %d", got, status)
	}
	for _, p := range patterns {
		if !regexp.MustCompile("(?m)" + p).Match(r.said.Bytes()) {
			r.t.Errorf("it does not say %q", p)
		}
	}
	if r.t.Failed() {
		logs, _ := filepath.Glob(filepath.Join(r.work, "*", "*.log")) // the pattern is a good one
		for _, l := range logs {
			text, err := os.ReadFile(l)
			r.t.Logf("%s (%v):\n%s", l, err, text)
		}
		r.t.Fatalf("it said:\n%s", r.said.String())
	}
}

// logOf ends a run to read what it has said.
func logOf(r *farRun) string {
	_ = r.cmd.Process.Kill()
	<-r.done
	return r.said.String()
}

// until waits for so many trials of a host to be here.
func (r *farRun) until(trials int, out, host string) {
	r.t.Helper()
	for begin := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		data, _ := os.ReadFile(filepath.Join(r.work, out, host, record.TrialsFile)) // it may not be there yet
		if bytes.Count(data, []byte("\n")) >= trials {
			return
		}
		select {
		case <-r.done:
			r.t.Fatalf("it has ended before:\n%s", r.said.String())
		case <-time.After(time.Millisecond):
		}
		if time.Since(begin) > time.Minute {
			r.t.Fatalf("%s has not measured:\n%s", host, logOf(r))
		}
	}
}

// moment is when the record of a host has so many trials there, and what is done then.
type moment struct {
	host   string
	trials int
	do     func()
}

// at does what is to be done at each moment, in whatever order they come.
func (u *farUser) at(r *farRun, record string, moments ...moment) {
	u.t.Helper()
	for begin := time.Now(); len(moments) > 0; time.Sleep(20 * time.Millisecond) {
		moments = slices.DeleteFunc(moments, func(m moment) bool {
			n := 0
			paths, _ := filepath.Glob(fmt.Sprintf("/proc/%d/root%s/trials.jsonl", u.inner[m.host], record)) // the pattern is a good one
			for _, path := range paths {
				data, _ := os.ReadFile(path) // it may have gone
				n += bytes.Count(data, []byte("\n"))
			}
			if n >= m.trials {
				m.do()
			}
			return n >= m.trials
		})
		if len(moments) > 0 && time.Since(begin) > 8*time.Minute {
			u.t.Fatalf("%s has not measured:\n%s", moments[0].host, logOf(r))
		}
	}
}

// hold stops the run of a host, so that it can't go on before the test has seen it, however
// busy the machine is. What sends the record goes on.
func (u *farUser) hold(host string) (pids []int) {
	u.t.Helper()
	for _, pid := range u.processes(host, "plimsoll") {
		argv, _ := proc.Here.Argv(pid) // one that has ended sends nothing
		if slices.Contains(argv, fleet.VerbSend) {
			continue
		}
		_ = syscall.Kill(pid, syscall.SIGSTOP) // one that has ended is as good
		pids = append(pids, pid)
	}
	if len(pids) == 0 {
		u.t.Errorf("there is no run on %s", host)
	}
	return pids
}

// cut ends the connections to a host.
func (u *farUser) cut(host string) {
	for _, pid := range u.processes(host, "sshd") {
		_ = syscall.Kill(pid, syscall.SIGKILL) // one that has ended is as good
	}
}

// trials are those of a host's record, which must be whole.
func (u *farUser) trials(out, host string) int {
	u.t.Helper()
	_, sum, err := recorded(filepath.Join(u.work, out, host))
	if err != nil {
		u.t.Fatal(err)
	}
	return sum.Trials
}

// forget removes the control groups of a host that was ended: the kernel is the same
// one, and would have gone with a real host.
func (u *farUser) forget(out, host string) {
	u.t.Helper()
	rec, err := record.Open(filepath.Join(u.work, out, host))
	if err != nil {
		u.t.Fatal(err)
	}
	for _, pattern := range []string{"/sys/fs/cgroup/plimsoll-", "/sys/fs/cgroup/*/plimsoll-"} {
		groups, _ := filepath.Glob(pattern + rec.Run().ID + "-*") // the pattern is a good one
		for _, g := range groups {
			if err := os.Remove(g); err != nil {
				u.t.Error(err)
			}
		}
	}
}

// clean demands that nothing of ours is on a host any more.
func (u *farUser) clean(hosts ...string) {
	u.t.Helper()
	for _, h := range hosts {
		if _, err := os.Lstat(filepath.Join(u.dir, h, "home/.cache/plimsoll")); err == nil {
			u.t.Errorf("%s has a folder of ours", h)
		}
		if pids := u.processes(h, "plimsoll"); len(pids) > 0 {
			u.t.Errorf("%s has processes of ours: %d", h, pids)
		}
		states, err := filepath.Glob(fmt.Sprintf("/proc/%d/root/var/lib/plimsoll*", u.inner[h]))
		if err != nil || len(states) > 0 {
			u.t.Errorf("%s has a state of ours: %s %v", h, states, err)
		}
	}
}

// A lost terminal lets the run go on; --resume follows it again. Ctrl-C ends it, and
// --resume brings the record back and measures the rest.
func TestSiteHostLetGo(t *testing.T) {
	u := farSite(t, nil, "one")
	r := u.begin("run", "--progress", "plain", "long.yaml", "--on", "ssh://one", "-o", "out")
	r.until(2, "out", "one")
	_ = r.cmd.Process.Signal(syscall.SIGHUP)
	r.end(Interrupted, "^one: interrupted; .*the run goes on there")
	if len(u.processes("one", "plimsoll")) == 0 {
		t.Fatal("the run was ended")
	}
	c := u.begin("clean", "--on", "ssh://one")
	c.end(Failed, "could not be cleaned up")
	r = u.begin("run", "--progress", "plain", "--resume", "out")
	r.until(6, "out", "one")
	_ = r.cmd.Process.Signal(os.Interrupt)
	r.end(Interrupted, "^one: ending after the trial in flight", "^one: interrupted; ")
	before := u.trials("out", "one")
	u.clean("one")
	u.begin("run", "--progress", "plain", "--resume", "out").end(Done, "^one: done; 90 trials")
	if before >= 90 {
		t.Errorf("Ctrl-C came too late: %d trials", before)
	}
	u.clean("one")
}

// What is in the way is one sentence each.
func TestSiteHostsRefused(t *testing.T) {
	u := farSite(t, map[string]string{
		"small": "mkdir -p /root/.cache && mount -t tmpfs -o size=2m far /root/.cache",
		// Its users have an older Plimsoll, which is not called.
		"one":  "mkdir /run/old && printf '#!/bin/sh\\necho \"$@\" >>/run/old/called\\nexit 1\\n' >/run/old/plimsoll && chmod 755 /run/old/plimsoll && echo 'SetEnv PATH=/run/old:/usr/sbin:/usr/bin:/sbin:/bin' >>\"$2/sshd_config\"",
		"arm":  "printf '#!/bin/sh\\n[ \"$1\" = -m ] && echo aarch64 || echo Linux\\n' >/run/uname && chmod 755 /run/uname && mount --bind /run/uname $(readlink -f /usr/bin/uname)",
		"bare": "mkdir -p /root/.cache && mount -t tmpfs -o noexec,size=300m far /root/.cache",
	}, "one", "small", "arm", "bare", "stranger", "changed")
	known := filepath.Join(u.dir, "known")
	keys, err := os.ReadFile(known)
	require.NoError(t, err)
	keys = regexp.MustCompile("(?m)^(stranger|changed) .*\n").ReplaceAll(keys, nil)
	other := regexp.MustCompile("(?m)^one (.*\n)").FindSubmatch(keys)
	require.NoError(t, os.WriteFile(known, append(append(keys, "changed "...), other[1]...), 0o600))
	u.begin("run", "--progress", "plain", "short.yaml", "--on", "ssh://small,arm,bare,stranger,changed,nobody-here@one", "-o", "refused").end(Failed,
		"^stranger: its host key is unknown$", "^changed: its host key is not the one that known_hosts has$", "ssh-keygen -R changed, then", "^bare: the program that was brought there may not be executed: .*/plimsoll: Permission denied$",
		`^small: /root/.cache/plimsoll/hosts has \d+ MiB free, and the program and its record need \d+ MiB$`,
		"^arm: its processor is arm64, and this program is for amd64$", "--program arm64=PATH",
		"^one: ssh may not log in as this user with any key it has$", "no host could be measured")
	own, err := exec.LookPath("plimsoll")
	if err != nil {
		t.Fatal(err)
	}
	u.begin("run", "--progress", "plain", "short.yaml", "--on", "ssh://arm", "-o", "wrong", "--program", "arm64="+own).end(Failed, "^arm: .* is for X86_64, and the host is arm64")
	u.begin("run", "--progress", "plain", "short.yaml", "--on", "ssh://plain@one", "-o", "plain").end(Done,
		"^one: the run is of the user plain there: what needs root is not measured", "^one: done; 4 trials")
	if left := string(below(t, u, "one", "/home/plain")); strings.Contains(left, "/plimsoll/") && !strings.HasSuffix(left, "/lock\n/home/plain/.cache\n") {
		t.Errorf("on the host is left: %s", left)
	}
	u.begin("run", "--progress", "plain", "short.yaml", "--on", "ssh://one", "-o", "beside").end(Done, "^one: copying the program$", "^one: done; 4 trials")
	if old := string(below(t, u, "one", "/run/old")); old != "/run/old\n/run/old/plimsoll\n" {
		t.Errorf("the older Plimsoll there was called: %s", old)
	}
	_ = exec.Command(filepath.Join(u.dir, "bin/ssh"), "one", "plimsoll", "version").Run() // it says that it is called, and fails
	if !strings.Contains(string(below(t, u, "one", "/run/old")), "/run/old/called\n") {
		t.Error("the older Plimsoll is not the one on that host's PATH")
	}
	u.clean("one", "arm", "stranger", "changed")
}

// A user who is not root there may become it, or is told what is in the way.
func TestSiteHostsBecome(t *testing.T) {
	if _, err := exec.LookPath("sudo"); err != nil {
		t.Skip("sudo is not installed: --become is by it")
	}
	u := farSite(t, map[string]string{"two": "mine sudoers 'plain ALL=(ALL) NOPASSWD: ALL' && chmod 440 /run/sudoers"}, "one", "two")
	u.begin("run", "--progress", "plain", "short.yaml", "--on", "ssh://plain@one", "--become", "-o", "sudo").end(Failed, "^one: sudo asks for a password, and nobody is there to type it$")
	u.begin("run", "--progress", "plain", "short.yaml", "--on", "ssh://root@one", "--become", "-o", "become").end(Done, "^one: done; 4 trials")
	if left := string(below(t, u, "one", "/home/plain")); strings.Contains(left, "/plimsoll/") && !strings.HasSuffix(left, "/lock\n/home/plain/.cache\n") {
		t.Errorf("on the host is left: %s", left)
	}

	// Where sudo lets the user, what needs root is measured: native does, which stands beside
	// these in each block.
	study := "plimsoll: 1\nname: rooted\nprotocol: {blocks: 2, warmup: 0}\nworkloads: [hello]\nenvironments: [host, floor]\n"
	require.NoError(t, os.WriteFile(filepath.Join(u.work, "rooted.yaml"), []byte(study), 0o600))
	u.begin("run", "--progress", "plain", "rooted.yaml", "--on", "ssh://plain@two", "--become", "-o", "rooted").end(Done, "^two: done; 6 trials")
	if left := string(below(t, u, "two", "/home/plain")); left != "/home/plain\n" {
		t.Errorf("in the user's home on the host is left: %s", left)
	}
	u.begin("run", "--progress", "plain", "rooted.yaml", "--on", "ssh://plain@two", "-o", "plain").end(Done, "^two: the run is of the user plain there: what needs root is not measured", "^two: done; [1-5] trials")
	u.clean("one", "two")
}

// below lists what is below a folder of a host.
func below(t *testing.T, u *farUser, host, dir string) []byte {
	t.Helper()
	out, err := exec.Command("nsenter", "--target", fmt.Sprint(u.inner[host]), "--mount", "find", dir).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return out
}
