package canary

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"

	"plimsoll/internal/measure/host/proc"
)

// Like plants what looks like the containers of a run that was killed: dir is the
// run's folder, and names are its containers' by its ledger. Processes bear the names
// of engines' helpers and have arguments in the folder; control groups, a mount and a
// network namespace bear the containers' names where no engine puts them. done checks
// that all of it is alive, and removes it.
func (f *Flock) Like(dir string, names ...string) (done func()) {
	f.t.Helper()
	birds, steps := len(f.all), len(f.undo)
	ctx, cancel := context.WithTimeout(f.t.Context(), plantLimit)
	defer cancel()
	for _, plant := range []func(context.Context, string, []string) error{f.helpers, f.groupsNamed, f.mountNamed, f.netnsNamed} {
		if err := plant(ctx, dir, names); err != nil {
			if cannot, is := err.(cannotError); is { //nolint:errorlint // none is wrapped
				f.t.Logf("no look-alikes: %v", cannot)
			} else {
				f.t.Errorf("planting look-alikes of %s: %v", dir, err)
			}
		}
	}
	return func() {
		f.t.Helper()
		f.check(f.all[birds:])
		f.takeAway(f.undo[steps:])
		f.all, f.undo = f.all[:birds], f.undo[:steps]
	}
}

// helperNames begin as the names of engines' helpers do.
var helperNames = []string{"lxc-notes", "conmon-x", "runc", "containerd-shim-notes", "exe", "pasta-recipes", "crun", "youki-dev", "runsc-old",
	"slirp4netns-log", "rootlessport", "fuse-overlayfs", "squashfuse_ll", "fuse2fs", "starter", "appinit", "ch-run", "docker-proxy",
	"systemd-nspawn", "bwrap-menu", "nerdctl", "sarus", "plimsoll-probe"}

// helpers are copies of a user's program under the names of engines' helpers, and a
// bubblewrap of the user's, each with arguments in the folder.
func (f *Flock) helpers(_ context.Context, dir string, names []string) error {
	cat, err := exec.LookPath("cat")
	if err != nil {
		return cannot("%v", err)
	}
	program, err := os.ReadFile(cat)
	if err != nil {
		return err
	}
	room, err := f.room()
	if err != nil {
		return err
	}
	args := []string{"-", filepath.Join(dir, "ledger.jsonl")}
	for _, name := range helperNames {
		path := filepath.Join(room, name)
		if err := os.WriteFile(path, program, 0o755); err != nil { //nolint:gosec // a program
			return err
		}
		if _, err := f.execute(path, append(args, names...)...); err != nil {
			return err
		}
	}
	bwrap, err := exec.LookPath("bwrap")
	if err != nil {
		return cannot("%v", err)
	}
	var argv []string
	for _, dir := range []string{"/usr", "/bin", "/lib", "/lib64"} { // all of / would hold the run's mounts
		argv = append(argv, "--ro-bind-try", dir, dir)
	}
	_, err = f.execute(bwrap, slices.Concat(argv, []string{cat}, args)...)
	return err
}

// groupsNamed lie below a group of the user's, each with a process in it.
func (f *Flock) groupsNamed(_ context.Context, dir string, names []string) error {
	tops, err := groupTops()
	if err != nil {
		return err
	}
	top := filepath.Join(tops[0], "canary-"+f.id+"-"+filepath.Base(dir))
	if err := f.group(top); err != nil {
		return err
	}
	for _, name := range names {
		for _, n := range []string{name, "lxc.payload." + name} {
			dir := filepath.Join(top, n)
			if err := f.group(dir); err != nil {
				return err
			}
			if err := f.startIn(dir, "runc"); err != nil {
				return err
			}
		}
	}
	return nil
}

func (f *Flock) mountNamed(_ context.Context, _ string, names []string) error {
	room, err := f.room()
	for _, name := range names {
		if err == nil {
			err = f.mount(filepath.Join(room, name))
		}
	}
	return err
}

func (f *Flock) netnsNamed(ctx context.Context, _ string, names []string) error {
	for _, name := range names {
		if err := f.netns(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// groupTops are the mount points of the hierarchies of control groups, of each the first.
func groupTops() ([]string, error) {
	all, err := proc.Here.Hierarchies()
	var tops []string
	seen := map[uint64]bool{}
	for _, h := range all {
		var st unix.Stat_t
		if err := unix.Stat(h.Mount, &st); err == nil && !seen[st.Dev] {
			seen[st.Dev] = true
			tops = append(tops, h.Mount)
		}
	}
	if len(tops) == 0 || os.Geteuid() != 0 {
		return nil, cannot("no control group can be made without root and a mounted hierarchy: %v", err)
	}
	return tops, nil
}

// group makes a control group.
func (f *Flock) group(dir string) error {
	if err := free(dir); err != nil {
		return err
	}
	if err := f.after(step{What: "control group " + dir, How: removeGroup, Path: dir}); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return cannot("making a control group: %v", err)
	}
	f.add("control group "+dir, there(dir))
	return nil
}

// startIn starts a process in a control group.
func (f *Flock) startIn(dir, argv0 string) error {
	pid, err := f.start(argv0)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0); err != nil {
		return cannot("entering a control group: %v", err)
	}
	return nil
}
