package docker

import (
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/moby/moby/api/types/system"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/private"
	"plimsoll/internal/measure/engine/userns"
	"plimsoll/internal/measure/host/proc"
)

// ofDaemon are the factors that are a daemon's.
var ofDaemon = []string{engine.Storage, engine.Driver, engine.Rootless}

// privately says whether a private daemon could have a level that the user's
// has not, whose reason is given: nil where it could.
func (e *Engine) privately(kit *engine.Kit, info *system.Info, factor, level string, why *engine.Error) *engine.Error {
	if !slices.Contains(ofDaemon, factor) {
		return why
	}
	if no := private.Joined(kit, e.daemon); no != nil {
		no.Fix = why.Fix
		return joined(why, no)
	}
	var no *engine.Error
	switch factor {
	case engine.Storage:
		no = e.privateStorage(kit, info, level)
		if no == nil && !kit.Root && rootless(info) == "yes" {
			return rootlessPossible(kit, why)
		}
	case engine.Driver:
		if level == "systemd" && !proc.SystemdRuns() {
			no = unavailable("", "systemd does not run here")
		}
	case engine.Rootless:
		if level == "yes" {
			return rootlessPossible(kit, why)
		}
	}
	if no == nil {
		no = private.Root(kit)
	}
	if no == nil {
		_, no = e.daemonProgram(kit)
	}
	return joined(why, no)
}

// daemonProgram is that of a private daemon.
func (e *Engine) daemonProgram(kit *engine.Kit) (string, *engine.Error) {
	path, err := kit.LookPath(e.daemon)
	if err != nil {
		return "", unavailable(e.install, "the program %s, for a private daemon, is not on the PATH", e.daemon)
	}
	return path, nil
}

// joined gives the second reason after the first, or nil where there is none.
func joined(why, no *engine.Error) *engine.Error {
	if no == nil {
		return nil
	}
	both := *no
	both.Text = why.Text + ", and a private one can't be started: " + no.Text
	return &both
}

// privateStorage says what is in the way of a private daemon with a driver.
func (e *Engine) privateStorage(kit *engine.Kit, info *system.Info, driver string) *engine.Error {
	if info.Driver == driver && driver != zfs {
		return nil
	}
	major := adapter.MajorVersion(info.ServerVersion)
	switch driver {
	case "overlay2":
		return kernelLacks("overlay")
	case "btrfs":
		if no := private.CanMake(kit, "btrfs"); no != nil {
			return no
		}
	case "fuse-overlayfs":
		if _, err := kit.LookPath("fuse-overlayfs"); err != nil {
			return unavailable("apt-get install fuse-overlayfs", "fuse-overlayfs is not installed")
		}
		if !exists("/dev/fuse") {
			return unavailable(engine.Modprobe("fuse"), "the kernel has no FUSE")
		}
	case "overlayfs", "native":
		if major < 24 {
			return unavailable("", "Docker %s has no containerd image store, which came with 24", info.ServerVersion)
		}
	case "aufs":
		if major >= 24 {
			return unavailable("", "Docker %s has no aufs any more", info.ServerVersion)
		}
		return kernelLacks("aufs")
	case "devicemapper":
		if major >= 25 {
			return unavailable("", "Docker %s has no devicemapper any more", info.ServerVersion)
		}
		if devices, err := os.ReadFile("/proc/misc"); err != nil || !strings.Contains(string(devices), "device-mapper") {
			return unavailable(engine.Modprobe("dm_mod"), "the kernel has no device-mapper")
		}
	case zfs:
		if no := kernelLacks("zfs"); no != nil {
			return no
		}
		return unavailable("", "Plimsoll makes no pool of zfs")
	}
	return nil
}

func kernelLacks(fs string) *engine.Error {
	if private.KernelHas(fs) {
		return nil
	}
	return unavailable(engine.Modprobe(fs), "the kernel has no %s", fs)
}

// rootlessScript finds Docker's own script; distributions that ship it as an
// example have it outside of PATH.
func rootlessScript(kit *engine.Kit) string {
	if p, err := kit.LookPath("dockerd-rootless.sh"); err == nil {
		return p
	}
	for _, p := range []string{"/usr/share/docker.io/contrib/dockerd-rootless.sh", "/usr/libexec/docker/dockerd-rootless.sh"} {
		if exists(p) {
			return p
		}
	}
	return ""
}

// rootlessPossible says what is in the way of a rootless daemon.
func rootlessPossible(kit *engine.Kit, why *engine.Error) *engine.Error {
	if kit.User == nil {
		return joined(why, unavailable("", "there is no ordinary user: %s", kit.NoUser))
	}
	if kit.User.RuntimeDir != "" && exists(filepath.Join(kit.User.RuntimeDir, "docker.sock")) {
		return nil // the user's own; Open asks it
	}
	if rootlessScript(kit) == "" {
		return joined(why, unavailable("apt-get install docker-ce-rootless-extras", "dockerd-rootless.sh is not installed"))
	}
	for _, p := range []struct{ name, pkg string }{{"rootlesskit", "rootlesskit"}, {"slirp4netns", "slirp4netns"}, {"newuidmap", "uidmap"}} {
		if _, err := kit.LookPath(p.name); err != nil {
			return joined(why, unavailable("apt-get install "+p.pkg, "%s is not installed", p.name))
		}
	}
	for _, file := range []string{"/etc/subuid", "/etc/subgid"} {
		if !hasRange(file, kit.User) {
			return joined(why, unavailable("usermod --add-subuids 100000-165535 --add-subgids 100000-165535 "+kit.User.Name,
				"the user %s has no range in %s", kit.User.Name, file))
		}
	}
	if reason, fix := userns.Forbidden("rootlesskit"); reason != "" {
		return joined(why, unavailable(fix, "%s", reason))
	}
	return nil
}

// hasRange says whether a user has a line in /etc/subuid or /etc/subgid.
func hasRange(file string, u *engine.User) bool {
	text, _ := os.ReadFile(file)
	names := []string{u.Name, strconv.Itoa(u.UID)}
	if known, err := user.LookupId(names[1]); err == nil {
		names = append(names, known.Username)
	}
	for line := range strings.Lines(string(text)) {
		name, _, _ := strings.Cut(line, ":")
		if slices.Contains(names, name) {
			return true
		}
	}
	return false
}
