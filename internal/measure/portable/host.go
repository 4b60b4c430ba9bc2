package portable

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"

	"plimsoll/internal/record"
)

// What a record says of the machine that this program measured from, which is not the
// host: that is the engines' machine.
const (
	clientName   = "client"
	clientSystem = "client-system"
)

// machineTold is what an engine, and its first container, tell of the machine that it is on.
type machineTold struct {
	name string // as the engine's API has it
	os   string
	cpus int
	id   string // the daemon's own, where it keeps one
	boot string // of the kernel that the first container ran on
}

// host is the machine of the run's engines, with what is known of this one.
func (r *run) host() record.Host {
	var all []machineTold
	for i := range r.Run.Environments {
		env := r.envs[r.Run.Environments[i].ID]
		if env == nil {
			continue
		}
		f := env.rec.Facts
		m := machineTold{name: f[machineFact], os: f["daemon-os"], boot: env.boot, id: r.Look.Found(env.rec.Engine).id}
		m.cpus, _ = strconv.Atoi(f["daemon-cpus"]) // not everyone tells
		all = append(all, m)
	}
	name, _ := os.Hostname() // without a name it has none
	return hostFrom(name, all)
}

// hostFrom is one host where all engines tell of one machine. The kernel's boot, which the
// first container reads, is the same whichever way an engine is reached; its name is by its
// word, and its identifier tells it after its machine was booted anew. Engines of a CRI have
// no name to tell: the host has this machine's, and is told apart by its boot alone.
func hostFrom(client string, all []machineTold) record.Host {
	h := record.Host{Name: client, OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: runtime.NumCPU(), More: map[string]string{
		half:               "portable: what is known of the engines' machines stands in their facts",
		"clock-resolution": Resolution().String(), clientName: client,
		clientSystem: fmt.Sprintf("%s/%s, %d CPUs", runtime.GOOS, runtime.GOARCH, runtime.NumCPU()),
	}}
	one := func(of func(machineTold) string) (value string, names []string) {
		seen := map[string]bool{}
		for _, m := range all {
			if v := of(m); v != "" && !seen[v] {
				seen[v], names = true, append(names, v)
			}
		}
		if len(names) == 1 {
			value = names[0]
		}
		return value, names
	}
	boot, _ := one(func(m machineTold) string { return m.boot })
	name, names := one(func(m machineTold) string { return m.name })
	h.Boot = record.Identity(boot, record.OfBoot)
	if len(names) == 0 {
		return h
	}
	h.Name, h.OS, h.CPUs = strings.Join(names, " and "), "", 0
	if name != "" {
		id, _ := one(func(m machineTold) string { return m.id })
		h.Machine = record.Identity(id, "daemon")
		for _, m := range all {
			if m.name == name {
				h.OS, h.CPUs = m.os, m.cpus
				break
			}
		}
	}
	return h
}

// bootOf is the boot of the machine that an engine is on, by what its first container
// reported; "" where the container had another kernel than the engine, as gVisor's and
// those of small virtual machines.
func bootOf(facts, report map[string]string) string {
	if k := facts["daemon-kernel"]; k != "" && k != report["uname.release"] {
		return ""
	}
	return report["boot_id"]
}

// clients compares the machines that a run is measured from; what one side does not say is
// no difference. Records of earlier versions have this machine as their host.
func clients(was, now record.Host) (all []record.Difference) {
	before := map[string]string{clientName: was.More[clientName], clientSystem: was.More[clientSystem]}
	if before[clientName] == "" {
		before[clientName] = was.Name
	}
	for _, fact := range []string{clientName, clientSystem} {
		a, b := before[fact], now.More[fact]
		if fact == clientName && runtime.GOOS == "darwin" {
			continue // there a network gives the name
		}
		if a != "" && b != "" && a != b {
			all = append(all, record.Difference{Fact: fact, Was: a, Now: b, Unlike: true})
		}
	}
	return all
}
