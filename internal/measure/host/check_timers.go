//go:build linux

package host

import (
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	"plimsoll/internal/record"
)

// busyTimers are those of systemd's timers by which distributions start what keeps
// processors or disks busy for seconds, by the beginning of their names: upgrades and
// lists of packages, the index of the manual and of all files, and discarding or
// checking what disks hold.
var busyTimers = []string{
	"apt-daily", "apt-xapian-index", "dnf-", "packagekit", "snapd.", "transactional-update", "unattended-upgrade", "zypper-",
	"btrfs-", "e2scrub_", "fstrim", "man-db", "mdcheck", "mdmonitor-oneshot", "mlocate", "plocate", "updatedb", "raid-check",
}

func checkTimers(r *reading) []record.Remark {
	if len(r.m.glob("/run/systemd/system")) == 0 {
		return nil // nobody starts them
	}
	var on []string
	for _, dir := range []string{"/etc", "/usr/lib", "/lib"} { // enabled by somebody, and by their package
		for _, p := range r.m.glob(dir + "/systemd/system/*.wants/*.timer") {
			if name := path.Base(p); hasPrefixAny(name, busyTimers...) && !slices.Contains(on, name) && !r.m.masked(name) {
				on = append(on, name)
			}
		}
	}
	if len(on) == 0 {
		return nil
	}
	slices.Sort(on)
	return one(levelInfo, "timers", fmt.Sprintf("The distribution starts work of its own by the clock, which may come while a study runs: %s.", strings.Join(on, ", ")),
		"systemctl stop "+strings.Join(on, " ")+", and start them again afterwards")
}

// masked says whether systemd is not to start a unit at all (systemctl mask).
func (m Machine) masked(unit string) bool {
	return slices.ContainsFunc([]string{"/etc", "/run"}, func(dir string) bool {
		to, err := os.Readlink(m.path(path.Join(dir, "systemd/system", unit)))
		return err == nil && to == os.DevNull
	})
}
