package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze/hosts"
)

// ownRoot gives a host a root file system of its own: over that of this machine, without
// what is mounted there, and with all that is written in the folder fs/up.
const ownRoot = `
mkdir "$2/fs" && mount -t tmpfs -o mode=755 far "$2/fs" && mkdir "$2/fs/up" "$2/fs/work" "$2/fs/root" &&
mount -t overlay -o "lowerdir=/,upperdir=$2/fs/up,workdir=$2/fs/work" far "$2/fs/root" || exit 1
for m in /proc /sys /dev "$2"; do mkdir -p "$2/fs/root$m" && mount --rbind "$m" "$2/fs/root$m" || exit 1; done
cd "$2/fs/root" && pivot_root . mnt && cd / && umount -l /mnt || exit 1
`

// Two hosts with root file systems of their own, one of which may use one processor
// alone and have fewer processes: the records say so, and a run leaves on the hosts nothing
// that was not there, after a lost connection too.
func TestSiteHostsOwnRoot(t *testing.T) {
	if runtime.NumCPU() < 2 {
		t.Skip("a host with fewer processors than another needs two")
	}
	limited := fmt.Sprintf("echo 'ForceCommand exec prlimit --nproc=%d taskset -c %d /bin/sh -c \"$SSH_ORIGINAL_COMMAND\"' >>\"$2/sshd_config\"", fewProcesses, firstCPU(t))
	u := farSite(t, map[string]string{"one": "", "small": limited} /* begun below */)
	for _, h := range []string{"one", "small"} {
		dir := filepath.Join(u.dir, h)
		require.NoError(t, os.MkdirAll(dir, 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "own"), []byte(ownRoot), 0o600))
		require.NoError(t, u.start(h))
	}
	study := "plimsoll: 1\nname: far\nprotocol: {blocks: 8, warmup: 0, pause: 100ms}\nworkloads: [hello]\nenvironments: [host, native, floor, {engine: oci, runtime: [crun]}]\n"
	require.NoError(t, os.WriteFile(filepath.Join(u.work, "own.yaml"), []byte(study), 0o600))
	before := map[string][]string{"one": u.holds("one"), "small": u.holds("small")}
	r := u.begin("run", "--progress", "plain", "own.yaml", "--on", "ssh://one,small", "-o", "out")
	r.until(3, "out", "one")
	for _, pid := range u.processes("one", "sshd") {
		_ = syscall.Kill(pid, syscall.SIGKILL) // one that has ended is as good
	}
	r.end(Done, "^one: .*the run goes on there, and is picked up again", "^one: done; 32 trials", "^small: done; 32 trials")
	u.clean("one", "small")
	for _, h := range []string{"one", "small"} {
		for _, x := range u.holds(h) {
			name, _, _ := strings.Cut(x, " ")
			if !slices.Contains(before[h], x) && !slices.Contains(mayStay, name) {
				t.Errorf("%s has what was not there before: %s", h, x)
			}
		}
		rec, err := record.Open(filepath.Join(u.work, "out", h))
		require.NoError(t, err)
		for _, pattern := range []string{"/sys/fs/cgroup/*", "/sys/fs/cgroup/*/*", "/sys/fs/cgroup/*/*/*"} {
			groups, _ := filepath.Glob(pattern + rec.Run().ID + "*") // the pattern is a good one
			if len(groups) > 0 {
				t.Errorf("control groups of %s are left: %s", h, groups)
			}
		}
		few := slices.ContainsFunc(rec.Run().Host.Remarks, func(m record.Remark) bool {
			return m.Code == "rlimit-nproc" && strings.Contains(m.Text, fmt.Sprintf("At most %d processes", fewProcesses))
		})
		if few != (h == "small") {
			t.Errorf("the record of %s warns of %d processes: %t; its remarks: %v", h, fewProcesses, few, rec.Run().Host.Remarks)
		}
	}
	var h hosts.Hosts
	u.tell(&h, "report", "out")
	if len(h.Hosts) != 2 || h.Hosts[0].Label != "one" || h.Hosts[0].Machine.CPUs < 2 || h.Hosts[1].Machine.CPUs != 1 {
		t.Errorf("the hosts are %+v", h.Hosts)
	}
}

// fewProcesses is the limit of processes of the smaller host: fewer than engines may want.
const fewProcesses = 2000

// mayStay is what may be on a host after a run, as the manual says: the lock of the
// machine, the folder of all caches, and that of a runtime that is the host's own.
var mayStay = []string{"/run/plimsoll", "/run/plimsoll/lock", "/root/.cache", "/run/crun"}

// holds is what is on a host: what was written to its root, what lies in the file systems
// that are its own, and what is mounted.
func (u *farUser) holds(host string) []string {
	u.t.Helper()
	pid := fmt.Sprint(u.processes(host, "sleep")[0])
	script := `cd "$1/fs/up" && find . -mindepth 1 -type d -printf 'written %P\n' -o ! -type d -printf '%p %s\n'
find /run /var/lib /root /home ! -type d -printf '%p %s\n' -o -printf '%p\n'; cut -d' ' -f1-3 /proc/self/mounts`
	out, err := exec.Command("nsenter", "--target", pid, "--mount", "--pid", "sh", "-c", script, "holds", filepath.Join(u.dir, host)).CombinedOutput()
	if err != nil {
		u.t.Fatalf("%v: %s", err, out)
	}
	return slices.DeleteFunc(strings.Split(strings.TrimSpace(string(out)), "\n"), func(x string) bool {
		folder, written := strings.CutPrefix(x, "written ")
		_, err := os.Lstat("/" + folder)
		return written && err == nil // this machine has it too: something in it was written meanwhile
	})
}

// firstCPU is the first processor that this process may use.
func firstCPU(t *testing.T) int {
	t.Helper()
	var set unix.CPUSet
	require.NoError(t, unix.SchedGetaffinity(0, &set))
	for i := range 1024 {
		if set.IsSet(i) {
			return i
		}
	}
	t.Fatal("there is no processor")
	return 0
}
