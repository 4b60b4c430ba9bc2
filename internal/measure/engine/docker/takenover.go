package docker

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/moby/moby/api/types/system"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/record"
)

// What a daemon does to all of its containers is a private one's too, as far as the
// user's tells of it: else they would be held by other rules, on a machine with SELinux by
// none of its.

// takeOver lays what the user's daemon tells of its security over the configuration of a
// private one in dir, whose file systems, addresses and users are its own.
func takeOver(info *system.Info, config map[string]any, dir string) error {
	for name, key := range map[string]string{"selinux": "selinux-enabled", "no-new-privileges": "no-new-privileges"} {
		if hasSecurity(info, name) {
			config[key] = true
		}
	}
	profile := seccompProfile(info)
	if profile == unconfined {
		config["seccomp-profile"] = profile
	}
	if !filepath.IsAbs(profile) {
		return nil
	}
	// A copy: /etc/docker, where such files lie, is an empty directory to the private daemon.
	text, err := os.ReadFile(profile)
	if err != nil {
		return &engine.Error{Class: record.Unavailable, Err: err,
			Text: "reading the seccomp profile that your daemon has, by which a private one must hold its containers too",
			Fix:  "put the file back, or take seccomp-profile out of your daemon's configuration and restart it"}
	}
	at := filepath.Join(dir, "seccomp.json")
	config["seccomp-profile"] = at
	return os.WriteFile(at, text, 0o600)
}

// unconfined is the profile of a daemon whose containers have no filter unless they ask
// for one: a word, and no file.
const unconfined = "unconfined"

// seccompProfile reads "name=seccomp,profile=/etc/docker/strict.json"; "" where there is
// none. The daemon's own is called default, and builtin since 23.
func seccompProfile(info *system.Info) string {
	for _, o := range info.SecurityOptions {
		if rest, ok := strings.CutPrefix(o, "name=seccomp,profile="); ok {
			return rest
		}
	}
	return ""
}

// remapsUsers is the fact of a private daemon that does not map its containers' users,
// though the user's daemon does. Containers with users of their own would have to come by
// their file system through the run's folder, which is closed to them.
const remapsUsers = "userns-remap"

// notTakenOver are the facts of what a private daemon has not of the user's.
func notTakenOver(info *system.Info) map[string]string {
	if !hasSecurity(info, "userns") {
		return nil
	}
	return map[string]string{remapsUsers: "not taken over: root in a container is the machine's here, and another user below your daemon"}
}
