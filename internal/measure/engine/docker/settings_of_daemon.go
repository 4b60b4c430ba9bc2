package docker

import (
	"cmp"
	"slices"
	"strings"

	"github.com/moby/moby/api/types/system"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/private"
)

// switchedOff are the mechanisms that a daemon's configuration, or a filter around it,
// switches off for all of its containers, which only a private daemon is told.
type switchedOff []string

// daemonKeys are the keys of daemon.json that do so, and how short names of daemons tell
// them: https://docs.docker.com/reference/cli/dockerd/#daemon-configuration-file
var daemonKeys = map[string]struct {
	keys  []string
	short string
}{
	engine.PacketFilter:  {[]string{"iptables", "ip-masq"}, "-nf"},
	engine.UserlandProxy: {[]string{"userland-proxy"}, "-np"},
	engine.Durability:    {nil, "-ns"},
}

func switchedOffBy(spec engine.Spec) (off switchedOff) {
	for _, m := range []string{engine.PacketFilter, engine.UserlandProxy, engine.Durability} {
		if spec.Omits(m) {
			off = append(off, m)
		}
	}
	return off
}

// asksOwn says whether a spec asks for a private daemon by a mechanism.
func asksOwn(spec engine.Spec) bool {
	return spec.Adds(engine.OwnDaemon) || len(switchedOffBy(spec)) > 0
}

func (s switchedOff) configure(config map[string]any) {
	for _, m := range s {
		for _, key := range daemonKeys[m].keys {
			config[key] = false
		}
	}
}

func (s switchedOff) short() (name string) {
	for _, m := range s {
		name += daemonKeys[m].short
	}
	return name
}

// unsynced says that the daemon is to be under the filter that answers fsync.
func (s switchedOff) unsynced() bool { return slices.Contains(s, engine.Durability) }

// facts are what is in effect: dockerd refuses what it doesn't know.
func (s switchedOff) facts() map[string]string {
	f := map[string]string{}
	for _, m := range s {
		if m == engine.Durability {
			f["fsync"] = private.UnsyncedFact
			continue
		}
		f[m] = "off (" + strings.Join(daemonKeys[m].keys, ", ") + ": false)"
	}
	return f
}

// ownMechanism says what is in the way of a level that only a private daemon has, nil of
// any other.
func (e *Engine) ownMechanism(kit *engine.Kit, info *system.Info, level string) *engine.Error {
	parts := strings.Split(level, engine.And)
	if !slices.Contains(parts, engine.OwnDaemon) && !slices.ContainsFunc(parts, func(p string) bool { return daemonKeys[p].short != "" }) {
		return nil
	}
	if rootless(info) == "yes" {
		return unavailable("", "settings of a daemon are tried on private ones of root's, and the %s daemon is rootless", e.name)
	}
	if no := cmp.Or(private.Joined(kit, e.daemon), private.Root(kit)); no != nil {
		return no
	}
	_, no := e.daemonProgram(kit)
	return no
}
