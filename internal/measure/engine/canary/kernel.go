package canary

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"

	"plimsoll/internal/measure/host/proc"

	"golang.org/x/sys/unix"
)

// there demands that a path is there.
func there(path string) func(context.Context) error {
	return func(context.Context) error {
		_, err := os.Lstat(path)
		return err
	}
}

// free demands that nothing is there which would be taken for ours afterwards.
func free(path string) error {
	if _, err := os.Lstat(path); err == nil {
		return cannot("%s is there", path)
	}
	return nil
}

// cgroups are groups at the top of the tree, one with a process in it.
func cgroups(_ context.Context, f *Flock) error {
	tops, _ := filepath.Glob("/sys/fs/cgroup/*/cgroup.procs")
	if len(tops) == 0 {
		tops, _ = filepath.Glob("/sys/fs/cgroup/cgroup.procs")
	}
	if len(tops) == 0 || os.Geteuid() != 0 {
		return cannot("no control group can be made without root and a mounted hierarchy")
	}
	top := filepath.Dir(tops[0])
	for i, name := range []string{"plimsoll-foo-" + f.id, "plimsoll-" + f.id + "-native", "plimsoll-" + f.id + "-1",
		"nspawn-plimsoll-" + f.id + "-x", "lxc.payload.plimsoll-" + f.id + "-9"} {
		dir := filepath.Join(top, name)
		if err := free(dir); err != nil {
			return err
		}
		if err := f.after(step{What: "control group " + name, How: removeGroup, Path: dir}); err != nil {
			return err
		}
		if err := os.Mkdir(dir, 0o755); err != nil {
			return cannot("making a control group: %v", err)
		}
		f.add("control group "+name, there(dir))
		if i%2 == 0 {
			continue
		}
		pid, err := f.start("sleep")
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0); err != nil {
			return cannot("entering a control group: %v", err)
		}
	}
	return nil
}

// processes bear our words in their names and in their environment.
func processes(_ context.Context, f *Flock) error {
	for _, p := range [][2]string{
		{"plimsoll-" + f.id + "-1", "PLIMSOLL_DAEMON=" + f.id + "/docker"},
		{"conmon -n plimsoll-" + f.id + "-1", "PLIMSOLL_DAEMON=" + f.id + "/"},
		{"plimsoll-probe", "PLIMSOLL_RUN=" + f.id},
	} {
		if _, err := f.start(p[0], p[1]); err != nil {
			return err
		}
	}
	return nil
}

// mounts lie where their names say that they are ours.
func mounts(_ context.Context, f *Flock) error {
	if os.Geteuid() != 0 {
		return cannot("mounting needs root")
	}
	top, err := f.room()
	if err != nil {
		return err
	}
	for _, name := range []string{"plimsoll-" + f.id, "plimsoll-fs-" + f.id, "plimsoll-probe"} {
		at := filepath.Join(top, name)
		if err := os.Mkdir(at, 0o755); err != nil {
			return err
		}
		if err := f.after(step{What: "mount " + name, How: unmountPoint, Path: at}); err != nil {
			return err
		}
		if err := unix.Mount("plimsoll-"+f.id, at, "tmpfs", 0, "size=4k"); err != nil {
			return cannot("mounting: %v", err)
		}
		f.add("mount "+name, func(context.Context) error {
			all, err := proc.Here.Mounts(proc.Self)
			if err == nil && len(proc.Below(all, at)) == 0 {
				err = errors.New("nothing is mounted at " + at)
			}
			return err
		})
	}
	return nil
}

// links are bridges, and named network namespaces.
func links(ctx context.Context, f *Flock) error {
	ip := program("ip")
	plant := func(what, at string, look tool, add, del []string) error {
		if err := free(at); err != nil {
			return err
		}
		if err := f.after(step{What: what, Undo: []tool{ip.with(del...)}, Look: &look}); err != nil {
			return err
		}
		if err := ip.with(add...).run(ctx); err != nil {
			return cannot("making a %s: %v", what, err)
		}
		f.add(what, there(at))
		return nil
	}
	bridge := "plm" + f.id[:5] + "us"
	if err := plant("bridge "+bridge, "/sys/class/net/"+bridge, ip.with("link", "show", bridge),
		[]string{"link", "add", bridge, "type", "bridge"}, []string{"link", "del", bridge}); err != nil {
		return err
	}
	for _, ns := range []string{"plimsoll-" + f.id, "plimsoll-" + f.id + "-1"} {
		if err := plant("network namespace "+ns, "/run/netns/"+ns, ip.with("netns", "pids", ns),
			[]string{"netns", "add", ns}, []string{"netns", "del", ns}); err != nil {
			return err
		}
	}
	return nil
}
