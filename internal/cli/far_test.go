package cli

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// sshdPath is where distributions have the server of OpenSSH.
const sshdPath = "/usr/sbin/sshd"

// farHosts are hosts of their own on this machine: each is a set of namespaces, with
// a home, a /run and a /var/lib that nobody else sees, and the distribution's sshd.
type farHosts struct {
	dir   string
	hosts map[string]*exec.Cmd
	inner map[string]int // each host's first process, as it is called here
}

// withoutFar says why there can be no such hosts here; empty where there can.
func withoutFar() string {
	if os.Geteuid() != 0 {
		return "hosts of their own are namespaces that root makes"
	}
	if _, err := os.Stat(sshdPath); err != nil {
		return "there is no " + sshdPath + ": lab/engines/sshd up installs it"
	}
	return ""
}

// hostInit is the first process of a host, which reaps its orphans: when it ends, so
// does all that is in the host, as when a machine dies. The host has an ordinary user,
// plain, beside root, and a /dev/shm of its own: engines keep locks there, and one that
// finds an empty /run beside it takes the machine for a booted one. What else a test wants
// of a host stands in its file "extra", and in "own" what comes before all that. Where there
// is a file "enter", what is run on the host begins by it, out here; the host then has a
// namespace of control groups too.
const hostInit = `
mine() { { cat "/etc/$1" && echo "$2"; } >"/run/$1" && mount --bind "/run/$1" "/etc/$1"; }
if [ -e "$2/own" ]; then . "$2/own" || exit 1; fi
hostname "$1" && mount -t tmpfs -o mode=755 far /run && mkdir -m 755 /run/sshd && mount -t tmpfs -o mode=755 far /var/lib &&
mount --bind "$2/home" /root && cp "$2/authorized" /run/authorized && chmod 644 /run/authorized &&
mine passwd plain:x:4711:4711::/home/plain:/bin/sh && mine group plain:x:4711: && mine shadow "plain:*:19000::::::" &&
mount -t tmpfs -o mode=755 far /home && mkdir /home/plain && chown 4711:4711 /home/plain && ip link set lo up || exit 1
[ ! -d /dev/shm ] || mount -t tmpfs -o mode=1777 far /dev/shm || exit 1
if [ -e "$2/extra" ]; then . "$2/extra" || exit 1; fi
touch "$2/ready"
while :; do sleep 1000 & wait $!; done
`

// newFarHosts makes hosts below a folder, with what a user needs who logs in there:
// a key, the hosts' keys, and an ssh that knows them.
func newFarHosts(dir string, names ...string) (*farHosts, error) {
	f := &farHosts{dir: dir, hosts: map[string]*exec.Cmd{}, inner: map[string]int{}}
	if err := os.MkdirAll(filepath.Join(dir, "bin"), 0o755); err != nil {
		return nil, err
	}
	err := keygen(filepath.Join(dir, "user"))
	for _, n := range names {
		err = errors.Join(err, f.start(n))
	}
	ssh, serr := exec.LookPath("ssh")
	wrapper := fmt.Sprintf("#!/bin/sh\nexec %s -F %s/config \"$@\"\n", ssh, dir)
	return f, errors.Join(err, serr, os.WriteFile(filepath.Join(dir, "bin/ssh"), []byte(wrapper), 0o755))
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func keygen(path string) error {
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path).CombinedOutput(); err != nil {
		return fmt.Errorf("ssh-keygen: %w: %s", err, out)
	}
	return nil
}

// start starts a host that is not there yet, or was ended.
func (f *farHosts) start(name string) error {
	dir := filepath.Join(f.dir, name)
	if !exists(filepath.Join(dir, "key")) {
		if err := errors.Join(os.MkdirAll(filepath.Join(dir, "home"), 0o700), keygen(filepath.Join(dir, "key"))); err != nil {
			return err
		}
	}
	key, err := os.ReadFile(filepath.Join(f.dir, "user.pub"))
	host, herr := os.ReadFile(filepath.Join(dir, "key.pub"))
	config := fmt.Sprintf("HostKey %[1]s/key\nAuthorizedKeysFile /run/authorized\nPidFile none\nStrictModes no\nUsePAM no\nPasswordAuthentication no\nPermitRootLogin prohibit-password\n", dir)
	_ = os.Remove(filepath.Join(dir, "ready")) // of an earlier one
	err = errors.Join(err, herr, os.WriteFile(filepath.Join(dir, "authorized"), key, 0o600), os.WriteFile(filepath.Join(dir, "sshd_config"), []byte(config), 0o600))
	if err != nil {
		return err
	}
	var enter []string
	spaces := []string{"--mount", "--pid", "--uts", "--ipc", "--net"}
	if path := filepath.Join(dir, "enter"); exists(path) {
		enter, spaces = []string{"sh", path}, append(spaces, "--cgroup")
	}
	argv := slices.Concat(enter, []string{"unshare"}, spaces, []string{"--fork", "--kill-child", "--mount-proc", "sh", "-c", hostInit, "host", name, dir})
	cmd := exec.Command(argv[0], argv[1:]...)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		return err
	}
	f.hosts[name] = cmd
	for begin := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		if exists(filepath.Join(dir, "ready")) {
			break
		}
		if time.Since(begin) > time.Minute {
			return errors.Join(fmt.Errorf("the host %s has not begun", name), f.stop(name), errors.New(said.String()))
		}
	}
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", cmd.Process.Pid))
	inner, cerr := strconv.Atoi(strings.TrimSpace(string(children)))
	if err = errors.Join(err, cerr); err != nil {
		return err
	}
	f.inner[name] = inner
	// The connection is a pair of pipes into the host: no port, no bridge.
	login := slices.Concat(enter, []string{"nsenter", "--target", strconv.Itoa(inner)}, spaces, []string{"--", sshdPath, "-i", "-f", filepath.Join(dir, "sshd_config")})
	entry := fmt.Sprintf(`Host %[1]s
  IdentityFile %[2]s/user
  IdentitiesOnly yes
  UserKnownHostsFile %[2]s/known
  ProxyCommand %[3]s
`, name, f.dir, strings.Join(login, " "))
	known, err := os.OpenFile(filepath.Join(f.dir, "known"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(known, "%s %s", name, host)
	err = errors.Join(err, known.Close(), os.WriteFile(filepath.Join(dir, "entry"), []byte(entry), 0o600))
	entries, gerr := filepath.Glob(filepath.Join(f.dir, "*", "entry"))
	var all []byte
	for _, e := range entries {
		text, rerr := os.ReadFile(e)
		all, err = append(all, text...), errors.Join(err, rerr)
	}
	return errors.Join(err, gerr, os.WriteFile(filepath.Join(f.dir, "config"), all, 0o600))
}

// stop ends a host with all that is in it.
func (f *farHosts) stop(name string) error {
	cmd := f.hosts[name]
	if cmd == nil {
		return nil
	}
	delete(f.hosts, name)
	_ = cmd.Process.Signal(syscall.SIGKILL) // with its child goes the whole host
	_ = cmd.Wait()                          // killed
	return nil
}

// processes are those of a host that are called so.
func (f *farHosts) processes(name, word string) (pids []int) {
	own, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/pid_for_children", f.hosts[name].Process.Pid))
	if err != nil {
		return nil
	}
	all, _ := filepath.Glob("/proc/[0-9]*/ns/pid") // the pattern is a good one
	for _, path := range all {
		if ns, err := os.Readlink(path); err != nil || ns != own {
			continue
		}
		pid, _ := strconv.Atoi(strings.Split(path, "/")[2])
		comm, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
		if err == nil && strings.TrimSpace(string(comm)) == word {
			pids = append(pids, pid)
		}
	}
	return pids
}

func (f *farHosts) close() {
	for name := range f.hosts {
		_ = f.stop(name)
	}
}

// far makes hosts for a script, which ssh then knows by their names:
//
//	far one two
func far(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: far HOST...")
	}
	f, err := newFarHosts(ts.MkAbs("far"), args...)
	ts.Defer(f.close)
	ts.Check(err)
	ts.Setenv("PATH", f.dir+"/bin:"+ts.Getenv("PATH"))
}
