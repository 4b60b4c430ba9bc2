package tune

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"plimsoll/internal/measure/host/proc"
)

// option is that of the file system of control groups of version 2.
const option = "favordynmods"

// favorDynMods has the option there, or not.
func favorDynMods(want string) func(Machine) ([]Change, error) {
	return func(m Machine) ([]Change, error) {
		mounts, err := proc.Dir(m.path("/proc")).Mounts(proc.Self)
		if err != nil {
			return nil, err
		}
		for _, mount := range mounts {
			if mount.FSType != "cgroup2" {
				continue
			}
			c := Change{Path: mount.Mountpoint, Option: option, Old: no, New: want}
			if hasOption(mount, option) {
				c.Old = yes
			}
			if c.Old == want {
				return []Change{c}, errAlready
			}
			if err := m.takesBack(); err != nil {
				return []Change{c}, err
			}
			if os.Geteuid() != 0 {
				return []Change{c}, fmt.Errorf("%s can be mounted anew by the machine's root only", mount.Mountpoint)
			}
			return []Change{c}, nil
		}
		return nil, errors.New("control groups of version 2 are not mounted here")
	}
}

// takesBack says why the option can't be put back. Since Linux 6.18 it brings a lock for
// each process, in the hierarchies of version 1 too, and that stays until the machine is
// booted, whatever the mount says: cgroup_favor_dynmods in kernel/cgroup/cgroup.c.
func (m Machine) takesBack() error {
	b, err := os.ReadFile(m.path("/proc/sys/kernel/osrelease"))
	release := strings.TrimSpace(string(b))
	var major, minor int
	if _, serr := fmt.Sscanf(release, "%d.%d", &major, &minor); err != nil || serr != nil {
		return errors.New("the kernel's version can't be read, and some don't take it back before they are booted anew")
	}
	if major > 6 || major == 6 && minor >= 18 {
		return fmt.Errorf("the kernel, Linux %d.%d, does not take it back before it is booted anew: boot with cgroup_favordynmods=true to have it", major, minor)
	}
	return nil
}

// favored is the option by a value, of which 1 is that it is there.
func favored(value string) func(Machine) ([]Change, error) {
	if value == "1" {
		return favorDynMods(yes)
	}
	return favorDynMods(no)
}
