package tune

import (
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"plimsoll/internal/measure/host/proc"
)

// The two states of an option of a mount.
const no, yes = "no", "yes"

// settable are all that settings are in, and what a note may have put back: whoever could
// lay a note could have anything else written by way of it.
var settable = []string{
	"/sys/kernel/rcu_expedited",
	"/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor",
	"/sys/devices/system/cpu/intel_pstate/no_turbo",
	"/sys/devices/system/cpu/cpufreq/boost",
	"/sys/kernel/mm/transparent_hugepage/enabled",
	"/proc/sys/vm/swappiness",
	"/proc/sys/vm/dirty_writeback_centisecs",
	"/proc/sys/vm/compaction_proactiveness",
	"/proc/sys/vm/stat_interval",
	"/proc/sys/vm/vfs_cache_pressure",
	"/proc/sys/kernel/watchdog",
	"/proc/sys/kernel/numa_balancing",
	"/proc/sys/kernel/sched_autogroup_enabled",
	"/proc/sys/kernel/timer_migration",
	"/proc/sys/net/core/bpf_jit_enable",
	"/proc/irq/*/smp_affinity_list",
}

// Ours says whether a change is of a kind that this package makes: what is put back
// is named by a file, and nothing else may be written by way of it.
func (c Change) Ours() bool {
	switch {
	case c.Option != "":
		return c.Option == option && path.IsAbs(path.Clean(c.Path))
	case c.Held:
		return c.Path == "/dev/cpu_dma_latency"
	}
	return path.Clean(c.Path) == c.Path && slices.ContainsFunc(settable, func(pattern string) bool {
		is, err := path.Match(pattern, c.Path)
		return is && err == nil
	})
}

// read gives what a file says; of several words with one in brackets, that one.
func (m Machine) read(c Change) (string, error) {
	if c.Option != "" {
		mount, err := m.mounted(c.Path)
		if err != nil {
			return "", err
		}
		if hasOption(mount, c.Option) {
			return yes, nil
		}
		return no, nil
	}
	b, err := os.ReadFile(m.path(c.Path))
	if err != nil {
		return "", because(c.Path, err)
	}
	text := strings.TrimSpace(string(b))
	if _, rest, ok := strings.Cut(text, "["); ok {
		if chosen, _, ok := strings.Cut(rest, "]"); ok {
			return chosen, nil
		}
	}
	return text, nil
}

// write makes a file say this.
func (m Machine) write(c Change, value string) error {
	if c.Option != "" {
		return m.remount(c, value)
	}
	// No O_CREAT: a file that the kernel does not have is no setting.
	f, err := os.OpenFile(m.path(c.Path), os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return because(c.Path, err)
	}
	_, err = f.WriteString(value)
	return errors.Join(err, f.Close())
}

// Set makes a change.
func (m Machine) Set(c Change) error {
	if err := m.to(c, c.New); err != nil || c.Option == "" {
		return err
	}
	// An option is passed over in silence outside of the first namespace of control
	// groups: apply_cgroup_root_flags in kernel/cgroup/cgroup.c.
	now, err := m.read(c)
	if err == nil && now != c.New {
		err = fmt.Errorf("the kernel has passed over the option %s of %s: it is taken from outside of all containers only", c.Option, c.Path)
	}
	return err
}

// Unset puts a change back, where it is still there: what somebody else has set
// meanwhile stays, and what is gone needs nothing.
func (m Machine) Unset(c Change) error {
	if c.Held {
		return nil
	}
	now, err := m.read(c)
	if errors.Is(err, errAbsent) {
		return nil
	}
	if err != nil || now != c.New {
		return err
	}
	return m.to(c, c.Old)
}

// Hold makes a change that holds as long as the file is open.
func (m Machine) Hold(c Change) (*os.File, error) {
	f, err := os.OpenFile(m.path(c.Path), os.O_WRONLY, 0)
	if err != nil {
		return nil, because(c.Path, err)
	}
	// Four bytes are a number of microseconds: Documentation/power/pm_qos_interface.rst.
	if _, err := f.Write([]byte{0, 0, 0, 0}); err != nil {
		return nil, errors.Join(fmt.Errorf("holding %s: %w", c.Path, err), f.Close())
	}
	return f, nil
}

func (m Machine) to(c Change, value string) error {
	if err := m.write(c, value); err != nil {
		return fmt.Errorf("setting %s to %s: %w", c.Path, value, err)
	}
	return nil
}

// mounted is the file system that is mounted there, the last one if several are.
func (m Machine) mounted(at string) (*proc.Mount, error) {
	mounts, err := proc.Dir(m.path("/proc")).Mounts(proc.Self)
	if err != nil {
		return nil, err
	}
	for _, mount := range slices.Backward(mounts) {
		if mount.Mountpoint == at {
			return mount, nil
		}
	}
	return nil, fmt.Errorf("%w: nothing is mounted at %s", errAbsent, at)
}

func hasOption(m *proc.Mount, option string) bool {
	return slices.Contains(strings.Split(m.VFSOptions, ","), option)
}

// remount gives a file system an option or takes it, and leaves its other options
// and those of the place where it is mounted: fspick(2), fsconfig(2).
func (m Machine) remount(c Change, value string) error {
	mount, err := m.mounted(c.Path)
	if err != nil {
		return err
	}
	if mount.FSType != "cgroup2" {
		return fmt.Errorf("a file system of the kind %s is mounted at %s, and not cgroup2", mount.FSType, c.Path)
	}
	fd, err := unix.Fspick(unix.AT_FDCWD, c.Path, unix.FSPICK_CLOEXEC|unix.FSPICK_SYMLINK_NOFOLLOW)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	options := slices.DeleteFunc(strings.Split(mount.VFSOptions, ","), func(o string) bool { return o == "rw" || o == "ro" || o == c.Option })
	if value == yes {
		options = append(options, c.Option)
	}
	for _, o := range options {
		key, val, isString := strings.Cut(o, "=")
		if isString {
			err = unix.FsconfigSetString(fd, key, val)
		} else {
			err = unix.FsconfigSetFlag(fd, o)
		}
		if err != nil {
			return fmt.Errorf("the option %s: %w", o, err)
		}
	}
	return unix.FsconfigReconfigure(fd)
}
