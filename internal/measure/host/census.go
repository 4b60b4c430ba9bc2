//go:build linux

package host

import (
	"context"
	"fmt"
	"os"
	"path"
	"syscall"

	"plimsoll/internal/measure/host/proc"

	"golang.org/x/sys/unix"
)

// Kind is what an item of the census is.
type Kind string

// The kinds.
const (
	KindMount   Kind = "mount"
	KindCgroup  Kind = "cgroup"
	KindNetNS   Kind = "netns"
	KindLink    Kind = "link"
	KindProcess Kind = "process"
	KindLoop    Kind = "loop"
)

// maxCgroups bounds the walk of each hierarchy.
const maxCgroups = 50000

// Census is what there was on the machine at one moment: only what a
// container engine makes and may forget.
type Census struct {
	machine     Machine
	items       map[Kind]map[string]string // detail by name
	points      map[string]string          // of the mounts, by name: it can't be told from the name, which holds what anybody chose
	hierarchies []proc.Hierarchy
	// Problems say what could not be looked at.
	Problems []string
}

func (c *Census) put(k Kind, name, detail string) {
	if c.items[k] == nil {
		c.items[k] = map[string]string{}
	}
	c.items[k][name] = detail
}

func (c *Census) problem(err error) {
	if err != nil && len(c.Problems) < 20 {
		c.Problems = append(c.Problems, err.Error())
	}
}

// Census takes the census: mounts of our mount namespace, control groups of
// all hierarchies, network namespaces that a process is in or a file holds,
// network links of our namespace, processes that are no kernel threads, and
// loop devices in use. The error is that of ctx; what else goes wrong is a
// problem of the census, and the rest of it holds.
func (m Machine) Census(ctx context.Context) (*Census, error) {
	c := &Census{machine: m, items: map[Kind]map[string]string{}, points: map[string]string{}}
	mounts, err := m.proc().Mounts(proc.Self)
	c.problem(err)
	for _, mnt := range mounts {
		// The id tells two mounts on one place apart; the kernel uses ids again.
		name := fmt.Sprintf("%s (%s from %s, id %d)", mnt.Mountpoint, mnt.FSType, mnt.Source, mnt.ID)
		c.put(KindMount, name, "")
		c.points[name] = mnt.Mountpoint
	}
	seen := map[string]bool{}
	c.hierarchies = proc.Hierarchies(mounts)
	for _, h := range c.hierarchies {
		if !seen[h.Mount] {
			seen[h.Mount] = true
			c.problem(c.cgroups(ctx, h.Mount))
		}
	}
	c.netNames()
	c.problem(c.links())
	c.loops()
	c.problem(c.processes(ctx))
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("taking the census of the machine: %w", err)
	}
	return c, nil
}

// cgroups walks one hierarchy. A directory of cgroupfs has 2 links and one
// more for each directory in it (kernfs keeps the count), so a leaf, and most
// are leaves, needs one stat and no reading of its fifty files.
func (c *Census) cgroups(ctx context.Context, mount string) error {
	left := maxCgroups
	var walk func(rel string, depth int) error
	walk = func(rel string, depth int) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		dir := c.machine.path(path.Join(mount, rel))
		info, err := os.Lstat(dir)
		if err != nil {
			return nil // it went away meanwhile
		}
		if rel != "" {
			if left--; left < 0 {
				return fmt.Errorf("counting the control groups: %s has more than %d", mount, maxCgroups)
			}
			c.put(KindCgroup, path.Join(mount, rel), "")
		}
		if st, ok := info.Sys().(*syscall.Stat_t); ok && st.Nlink == 2 || depth > 64 {
			return nil
		}
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil
		}
		for _, e := range entries {
			if e.IsDir() {
				if err := walk(path.Join(rel, e.Name()), depth+1); err != nil {
					return err
				}
			}
		}
		return nil
	}
	return walk("", 0)
}

// netNames are the network namespaces that files hold, as ip-netns(8) and
// Podman keep them.
func (c *Census) netNames() {
	for _, dir := range []string{"/run/netns", "/run/docker/netns", "/var/run/netns"} {
		if dir == "/var/run/netns" && c.machine.resolve(dir) == "/run/netns" {
			continue
		}
		for _, p := range c.machine.glob(dir + "/*") {
			c.put(KindNetNS, p, "")
		}
	}
}

func (c *Census) links() error {
	entries, err := os.ReadDir(c.machine.path("/sys/class/net"))
	if err != nil {
		return fmt.Errorf("listing the network links: %w", err)
	}
	for _, e := range entries {
		if e.Name() != "bonding_masters" { // a file of the bonding driver
			c.put(KindLink, e.Name(), "")
		}
	}
	return nil
}

func (c *Census) loops() {
	for _, device := range c.machine.glob("/sys/block/loop*") {
		// Only a device in use has it; to look for it in each device's directory, as a
		// pattern does, costs as much as the processes where there are many free ones.
		if file := device + "/loop/backing_file"; c.machine.exists(file) {
			c.put(KindLoop, path.Base(device), c.machine.text(file))
		}
	}
}

// pfKthread marks kernel threads in the flags of /proc/PID/stat; source:
// include/linux/sched.h.
const pfKthread = 0x00200000

// processes lists pids with their start times, which together are unique, and
// the network namespaces that they are in. What else there is to know is read
// only of processes that turn out to be new (see Since).
func (c *Census) processes(ctx context.Context) error {
	f, err := os.Open(c.machine.path("/proc"))
	if err != nil {
		return fmt.Errorf("listing the processes: %w", err)
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	if err != nil {
		return fmt.Errorf("listing the processes: %w", err)
	}
	buf := make([]byte, 1024)
	link := make([]byte, 64)
	for i, name := range names {
		if name[0] < '0' || name[0] > '9' {
			continue
		}
		if i%256 == 0 && ctx.Err() != nil {
			return nil
		}
		base := c.machine.path("/proc/" + name)
		// Plain system calls: os.ReadFile would double the cost of this loop.
		fd, err := unix.Open(c.machine.path("/proc/"+proc.NamedIn(name))+"/stat", unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			continue // it has ended meanwhile
		}
		n, err := unix.Read(fd, buf)
		_ = unix.Close(fd) // only read from
		if err != nil || n <= 0 {
			continue
		}
		st, err := proc.ParseStat(string(buf[:n]))
		if err != nil {
			c.problem(err)
			continue
		}
		if st.Flags&pfKthread != 0 {
			continue
		}
		c.put(KindProcess, name+"@"+st.StartText(), st.Comm)
		// Of another user's processes the namespace can't be read.
		if n, err := unix.Readlink(base+"/ns/net", link); err == nil && n > 0 {
			c.put(KindNetNS, string(link[:n]), "")
		}
	}
	return nil
}
