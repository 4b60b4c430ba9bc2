package canary

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

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

// ofGroup ends the name of the canary among nspawn's groups, which no environment's id is.
const ofGroup = "-canary"

// OfGroup says whether a control group of nspawn's name is a canary.
func OfGroup(path string) bool { return strings.HasSuffix(path, ofGroup) }

// cgroups are groups at the top of every hierarchy. In the first one some have a process.
func cgroups(_ context.Context, f *Flock) error {
	tops, err := groupTops()
	if err != nil {
		return err
	}
	for i, name := range []string{"plimsoll-foo-" + f.id, "plimsoll-" + f.id + "-native", "plimsoll-" + f.id + "-1",
		"nspawn-plimsoll-" + f.id + ofGroup, "lxc.payload.plimsoll-" + f.id + "-9"} {
		for t, top := range tops {
			dir := filepath.Join(top, name)
			if err := f.group(dir); err != nil {
				return err
			}
			if t > 0 || i%2 == 0 {
				continue
			}
			if err := f.startIn(dir, "sleep"); err != nil {
				return err
			}
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
		if err := f.mount(filepath.Join(top, name)); err != nil {
			return err
		}
	}
	return nil
}

// mount makes a directory and mounts a file system there.
func (f *Flock) mount(at string) error {
	if err := os.Mkdir(at, 0o755); err != nil {
		return err
	}
	if err := f.after(step{What: "mount " + at, How: unmountPoint, Path: at}); err != nil {
		return err
	}
	if err := unix.Mount("plimsoll-"+f.id, at, "tmpfs", 0, "size=4k"); err != nil {
		return cannot("mounting: %v", err)
	}
	f.add("mount "+at, func(context.Context) error {
		all, err := proc.Here.Mounts(proc.Self)
		if err == nil && len(proc.Below(all, at)) == 0 {
			err = errors.New("nothing is mounted at " + at)
		}
		return err
	})
	return nil
}

// links are bridges, and named network namespaces.
func links(ctx context.Context, f *Flock) error {
	bridge := "plm" + f.id[:5] + "us"
	if err := f.byIP(ctx, "bridge "+bridge, "/sys/class/net/"+bridge, []string{"link", "show", bridge},
		[]string{"link", "add", bridge, "type", "bridge"}, []string{"link", "del", bridge}); err != nil {
		return err
	}
	for _, ns := range []string{"plimsoll-" + f.id, "plimsoll-" + f.id + "-1"} {
		if err := f.netns(ctx, ns); err != nil {
			return err
		}
	}
	return nil
}

// netns makes a network namespace that a file holds.
func (f *Flock) netns(ctx context.Context, name string) error {
	return f.byIP(ctx, "network namespace "+name, "/run/netns/"+name, []string{"netns", "pids", name},
		[]string{"netns", "add", name}, []string{"netns", "del", name})
}

// byIP plants by ip(8) what is at a path then.
func (f *Flock) byIP(ctx context.Context, what, at string, look, add, del []string) error {
	if err := free(at); err != nil {
		return err
	}
	ip := program("ip")
	is := ip.with(look...)
	if err := f.after(step{What: what, Undo: []tool{ip.with(del...)}, Look: &is}); err != nil {
		return err
	}
	if err := ip.with(add...).run(ctx); err != nil {
		return cannot("making a %s: %v", what, err)
	}
	f.add(what, there(at))
	return nil
}
