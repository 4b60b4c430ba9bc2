package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/host/proc"
)

// ownRoot gives a host a root file system of its own: over that of this machine, without
// what is mounted there, and with all that is written in the folder fs/up. A host that has
// control groups of its own sees these alone.
const ownRoot = `
at="$2/fs/root"
mkdir -p "$2/fs" && mount -t tmpfs -o mode=755 far "$2/fs" && mkdir "$2/fs/up" "$2/fs/work" "$at" &&
mount -t overlay -o "lowerdir=/,upperdir=$2/fs/up,workdir=$2/fs/work" far "$at" || exit 1
for m in /proc /dev "$2"; do mkdir -p "$at$m" && mount --rbind "$m" "$at$m" || exit 1; done
if [ -e "$2/enter" ]; then
  groups="$at/sys/fs/cgroup"
  mount --bind /sys "$at/sys" && mount -t tmpfs -o mode=755 far "$groups" || exit 1
  while IFS=: read -r _ c _; do
    case $c in '') continue ;; name=*) o=none,$c ;; *) o=$c ;; esac
    mkdir "$groups/${c#name=}" && mount -t cgroup -o "$o" far "$groups/${c#name=}" || exit 1
  done </proc/self/cgroup
else
  mount --rbind /sys "$at/sys" || exit 1
fi
cd "$at" && pivot_root . mnt && cd / && umount -l /mnt || exit 1
`

// ownGroups are the control groups of a host, one in each hierarchy of version 1: all that
// is run there is in them, its containers too.
type ownGroups struct {
	name string
	dirs []string
	set  []string // the files of the limits that hold
}

// limit gives a host that is not there yet control groups of its own, in which these files
// have these values. Where version 1 is not mounted, the host goes without.
func (u *farUser) limit(host string, limits map[string]string) *ownGroups {
	u.t.Helper()
	g := &ownGroups{name: fmt.Sprintf("plimsoll-far-%d-%s", os.Getpid(), host)}
	u.t.Cleanup(func() {
		_ = u.stop(host)
		if err := g.remove(g.all(true)); err != nil {
			u.t.Error(err)
		}
	})
	hierarchies, err := proc.Here.Hierarchies()
	require.NoError(u.t, err)
	enter := ""
	for _, h := range hierarchies {
		dir := filepath.Join(h.Mount, g.name)
		if h.Unified || exists(dir) { // it may be mounted twice
			continue
		}
		require.NoError(u.t, os.Mkdir(dir, 0o755))
		g.dirs = append(g.dirs, dir)
		for _, file := range []string{"cpuset.cpus", "cpuset.mems"} { // nothing may run where these are empty
			if value, err := os.ReadFile(filepath.Join(h.Mount, file)); err == nil {
				require.NoError(u.t, os.WriteFile(filepath.Join(dir, file), value, 0o644))
			}
		}
		for file, value := range limits {
			if path := filepath.Join(dir, file); exists(path) {
				require.NoError(u.t, os.WriteFile(path, []byte(value), 0o644))
				g.set = append(g.set, file)
			}
		}
		enter += fmt.Sprintf("echo $$ >'%s/cgroup.procs' || exit 1\n", dir)
	}
	if len(g.set) < len(limits) {
		u.t.Logf("the host %s has of its limits %v only %v: the others are no files of control groups of version 1 here", host, limits, g.set)
	}
	if len(g.dirs) == 0 {
		return g
	}
	require.NoError(u.t, os.WriteFile(filepath.Join(u.dir, host, "enter"), []byte(enter+"exec \"$@\"\n"), 0o600))
	return g
}

// all are the groups below the host's own, what lies deeper first, and those themselves
// where these are asked for too.
func (g *ownGroups) all(own bool) (dirs []string) {
	for _, top := range g.dirs {
		var below []string
		_ = filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() && (own || path != top) {
				below = append(below, path)
			}
			return nil // one that has gone is as good
		})
		slices.Reverse(below)
		dirs = append(dirs, below...)
	}
	return dirs
}

// remove takes groups away whose processes have ended, or are about to.
func (g *ownGroups) remove(dirs []string) error {
	var errs []error
	for _, dir := range dirs {
		err := os.Remove(dir)
		for range 4000 {
			if err == nil || errors.Is(err, fs.ErrNotExist) {
				err = nil
				break
			}
			time.Sleep(5 * time.Millisecond)
			err = os.Remove(dir)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// within demands that what a host measures with is in the host's control groups.
func (u *farUser) within(host string, g *ownGroups) {
	u.t.Helper()
	seen := 0
	for _, pid := range u.processes(host, "plimsoll") {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
		if err != nil {
			continue // it has ended
		}
		seen++
		if n := strings.Count(string(text), "/"+g.name); n != len(g.dirs) {
			u.t.Errorf("a process of %s is in %d groups of the host, not in %d:\n%s", host, n, len(g.dirs), text)
		}
	}
	if seen == 0 {
		u.t.Errorf("nothing is measured on %s", host)
	}
}

// mayStay is what may be on a host after a run, as the manual says: the lock of the
// machine, the folder of all caches, and that of a runtime that is the host's own.
var mayStay = []string{"/run/plimsoll", "/run/plimsoll/lock", "/root/.cache", "/run/crun"}

// holds is what is on a host: what was written to its root, what lies in the file systems
// that are its own, and what is mounted.
func (u *farUser) holds(host string) []string {
	u.t.Helper()
	script := `cd "$1/fs/up" && find . -mindepth 1 -type d -printf 'written %P\n' -o ! -type d -printf '%p %s\n'
find /run /var/lib /root /home ! -type d -printf '%p %s\n' -o -printf '%p\n'; cut -d' ' -f1-3 /proc/self/mounts`
	out, err := exec.Command("nsenter", "--target", fmt.Sprint(u.inner[host]), "--mount", "--pid", "sh", "-c", script, "holds", filepath.Join(u.dir, host)).CombinedOutput()
	if err != nil {
		u.t.Fatalf("%v: %s", err, out)
	}
	return slices.DeleteFunc(strings.Split(strings.TrimSpace(string(out)), "\n"), func(x string) bool {
		folder, written := strings.CutPrefix(x, "written ")
		_, err := os.Lstat("/" + folder)
		return written && err == nil // this machine has it too: something in it was written meanwhile
	})
}

// newThere are those of what a host holds that were not there before, and may not stay.
func newThere(before, after []string) []string {
	return slices.DeleteFunc(slices.Clone(after), func(x string) bool {
		name, _, _ := strings.Cut(x, " ")
		return slices.Contains(before, x) || slices.Contains(mayStay, name)
	})
}
