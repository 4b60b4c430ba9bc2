package probe

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"plimsoll/internal/common/require"
)

func TestParsePayload(t *testing.T) {
	good := "warning: something\nplimsoll 1 abc first 12\r\nk a b c\nk e \nplimsoll at 7\nk back \\134\\012\nplimsoll done 99\n"
	p, err := ParsePayload([]byte(good), "abc")
	if err != nil || p.First != 12 || p.Done != 99 || p.Report["a"] != "b c" || p.Report["back"] != `\\012` {
		t.Errorf("%+v %v", p, err)
	}
	if v, ok := p.Report["e"]; !ok || v != "" {
		t.Error("an empty value is a value")
	}
	for _, bad := range []string{
		"", "plimsoll 1 abc first 12", "plimsoll 1 abx first 12\n", "plimsoll 1 abc first -1\n",
		"plimsoll 1 abc first 1x\n", "x plimsoll 1 abc first 12\n", "plimsoll 1 abcd first 12\n",
		"plimsoll done 12\n", "plimsoll 1  first 12\n",
	} {
		if _, err := ParsePayload([]byte(bad), "abc"); !errors.Is(err, ErrNoProof) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if _, err := ParsePayload([]byte("plimsoll 1  first 12\n"), ""); err == nil {
		t.Error("no word is no proof")
	}
	// What the payload says before its first line is not its own.
	if p, _ := ParsePayload([]byte("k a b\nplimsoll done 3\n"+good[strings.Index(good, "pl"):len(good)-2]), "abc"); p.Done != 0 {
		t.Errorf("%+v", p)
	}
}

func FuzzParsePayload(f *testing.F) {
	f.Add([]byte("plimsoll 1 w first 12\nk a b\nplimsoll done 99\n"))
	f.Fuzz(func(t *testing.T, out []byte) {
		p, err := ParsePayload(out, "w")
		if (err == nil) != (p.First > 0) {
			t.Errorf("%+v %v", p, err)
		}
		for k, v := range p.Report {
			if strings.ContainsAny(k+v, "\n") {
				t.Errorf("%q %q", k, v)
			}
		}
	})
}

// report runs a payload directly.
func report(t *testing.T, cmd *exec.Cmd) Payload {
	t.Helper()
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v", cmd.Args, err)
	}
	p, err := ParsePayload(out, "w")
	require.NoError(t, err)
	return p
}

func TestReportOnThisMachine(t *testing.T) {
	argv := PayloadArgs{Word: "w", Report: true}.Argv(probePath(t))
	p := report(t, exec.Command(argv[0], argv[1:]...))
	for kind, inode := range hostNamespaces(t) {
		if p.Report["ns."+kind] != inode {
			t.Errorf("namespace %s: %s, want %s", kind, p.Report["ns."+kind], inode)
		}
	}
	release, _ := os.ReadFile("/proc/sys/kernel/osrelease")
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	for key, want := range map[string]string{
		"uname.release": strings.TrimSpace(string(release)), "boot_id": strings.TrimSpace(string(boot)), "proc": "present",
	} {
		if p.Report[key] != want {
			t.Errorf("%s is %q, want %q", key, p.Report[key], want)
		}
	}
	for _, key := range []string{
		"uid_map", "gid_map", "cap.eff", "cap.bnd", "seccomp", "no_new_privs", "root.fs", "mounts",
		"clock.monotonic", "clock.boottime", "clock.realtime", "rlimit.nofile", "rlimit.nproc", "pid1", "net.interfaces",
	} {
		if p.Report[key] == "" {
			t.Errorf("no %s in the report", key)
		}
	}
}

func TestReportUnderUnshare(t *testing.T) {
	needRoot(t)
	argv := append([]string{"-muinpf", "--mount-proc"}, PayloadArgs{Word: "w", Report: true}.Argv(probePath(t))...)
	p := report(t, exec.Command(tool(t, "unshare"), argv...))
	host := hostNamespaces(t)
	for _, kind := range []string{"mnt", "uts", "ipc", "net", "pid"} {
		if p.Report["ns."+kind] == host[kind] {
			t.Errorf("namespace %s is the host's", kind)
		}
	}
	if p.Report["pid"] != "1" || p.Report["ns.user"] != host["user"] || p.Report["net.names"] != "lo" {
		t.Errorf("report %v", p.Report)
	}
}

func TestValuesAreEscaped(t *testing.T) {
	needRoot(t)
	path := probePath(t)
	dir := t.TempDir() + "/a\nplimsoll done 5\nb"
	require.NoError(t, os.Mkdir(dir, 0o755))
	script := `mount -t tmpfs "$1" "$0" && mkdir "$0/proc" && cp "$2" "$0/p" && mount -t proc proc "$0/proc" && exec chroot "$0" /p payload w --report`
	p := report(t, exec.Command(tool(t, "unshare"), "-m", tool(t, "sh"), "-c", script, dir, "evil\nplimsoll done 6\nk uid 77", path))
	if p.Report["uid"] != "0" || p.Done == 6 || !strings.Contains(p.Report["root.source"], "evil") {
		t.Errorf("report %v", p.Report)
	}
}

func TestPayloadWithoutStdout(t *testing.T) {
	argv := PayloadArgs{Word: "w", Report: true}.Argv(probePath(t))
	c := exec.Command(tool(t, "sh"), append([]string{"-c", `exec "$@" >&-`, "sh"}, argv...)...)
	err := c.Run()
	if ee := (*exec.ExitError)(nil); !errors.As(err, &ee) || ee.ExitCode() != 74 {
		t.Errorf("stdout closed: %v, want status 74", err)
	}
	// A reader that goes away.
	r, w, err := os.Pipe()
	require.NoError(t, err)
	r.Close()
	c = exec.Command(argv[0], argv[1:]...)
	c.Stdout = w
	err = c.Run()
	w.Close()
	ee := (*exec.ExitError)(nil)
	if !errors.As(err, &ee) || ee.Sys().(syscall.WaitStatus).Signal() != syscall.SIGPIPE {
		t.Errorf("reader gone: %v, want SIGPIPE", err)
	}
}

// TestPayloadNonBlockingStdout fills a pipe that somebody has made non-blocking.
func TestPayloadNonBlockingStdout(t *testing.T) {
	var fds [2]int
	require.NoError(t, syscall.Pipe2(fds[:], syscall.O_CLOEXEC|syscall.O_NONBLOCK))
	full := 0
	for { // until nothing more goes in
		n, err := syscall.Write(fds[1], make([]byte, 4096))
		if err != nil {
			break
		}
		full += n
	}
	argv := PayloadArgs{Word: "w", Report: true}.Argv(probePath(t))
	pid, err := syscall.ForkExec(argv[0], argv, &syscall.ProcAttr{Files: []uintptr{0, uintptr(fds[1]), 2}})
	_ = syscall.Close(fds[1])
	require.NoError(t, err)
	time.Sleep(20 * time.Millisecond) // let it meet the full pipe
	r := os.NewFile(uintptr(fds[0]), "pipe")
	defer r.Close()
	out, err := io.ReadAll(r)
	require.NoError(t, err)
	var ws syscall.WaitStatus
	if _, err := syscall.Wait4(pid, &ws, 0, nil); err != nil || ws.ExitStatus() != 0 {
		t.Errorf("status %v %v", ws, err)
	}
	if p, err := ParsePayload(out[full:], "w"); err != nil || p.Done == 0 {
		t.Errorf("%+v %v", p, err)
	}
}

func TestPayloadUsage(t *testing.T) {
	path := probePath(t)
	for _, args := range [][]string{{}, {"payload"}, {"payload", "w", "--exit", "256"}, {"payload", "w", "--no"}, {"payload", "w", "--touch", "-1"}, {"payload", "w", "--touch"}, {"payload", "w", "--rest", "1s"}, {"payload", "w", "--on-term", "x"}, {"delay"}, {"delay", "x", "--", "/bin/true"}, {"floor", "a"}} {
		err := exec.Command(path, args...).Run()
		if ee := (*exec.ExitError)(nil); !errors.As(err, &ee) || ee.ExitCode() != 64 {
			t.Errorf("%v: %v, want status 64", args, err)
		}
	}
}

// TestPayloadTouches: what it takes is resident, and is what was asked for.
func TestPayloadTouches(t *testing.T) {
	resident := func(bytes int64) int64 {
		argv := PayloadArgs{Word: "w", Stay: true, TouchBytes: bytes}.Argv(probePath(t))
		cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
		until := " touched "
		if bytes == 0 {
			until = " first "
		}
		said, rest := startTask(t, cmd, until)
		status, err := os.ReadFile("/proc/" + strconv.Itoa(cmd.Process.Pid) + "/smaps_rollup")
		require.NoError(t, err)
		require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
		more, err := io.ReadAll(rest)
		require.NoError(t, err)
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
		p, err := ParsePayload(append(said, more...), "w")
		if err != nil || p.Done == 0 || bytes > 0 && (p.Touched < p.First || p.Touched > p.Done) || bytes == 0 && p.Touched != 0 {
			t.Errorf("%+v, %v", p, err)
		}
		_, rss, _ := strings.Cut(string(status), "\nAnonymous:")
		kib, err := strconv.ParseInt(strings.Fields(rss)[0], 10, 64)
		require.NoError(t, err)
		return kib << 10
	}
	// Two runs of the same differ by a page or two of their own.
	const asked, slack = 64<<20 - 5, 64 << 10
	if got := resident(asked) - resident(0); got < asked-slack || got > asked+slack {
		t.Errorf("%d bytes more of anonymous memory, want %d", got, asked)
	}
}

// TestPayloadRests: what comes after its first line, and before its last.
func TestPayloadRests(t *testing.T) {
	const rest = 30 * time.Millisecond
	argv := PayloadArgs{Word: "w", Report: true, Rest: rest}.Argv(probePath(t))
	out, err := exec.CommandContext(t.Context(), argv[0], argv[1:]...).Output()
	require.NoError(t, err)
	if p, err := ParsePayload(out, "w"); err != nil || p.Done-p.First < rest.Nanoseconds() {
		t.Errorf("it ended %s after it began: %+v, %v", time.Duration(p.Done-p.First), p, err)
	}
}
