package portable

import (
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"plimsoll/internal/common/harmless"
	"plimsoll/internal/common/lists"
	"plimsoll/internal/record"
)

// What a record says of the machine that this program measured from, which is not the
// host: that is the engines' machine.
const (
	clientName   = record.MoreClient
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

// host is the machine of the run's engines, with what is known of this one. Where an
// engine of a resumed run is lost, it stays the machine that the record has: who is not
// there can't tell, and its trials are not those of the machine that is left.
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
	now := hostFrom(name, all)
	if len(r.lost) == 0 || r.was.Host.More[clientName] == "" {
		return now
	}
	kept := r.was.Host
	of := kept.More[record.MoreNameOf]
	kept.More = maps.Clone(now.More)
	if delete(kept.More, record.MoreNameOf); of != "" {
		kept.More[record.MoreNameOf] = of
	}
	return kept
}

// hostFrom is one host where all engines tell of one machine. The kernel's boot, which the
// first container reads, is the same whichever way an engine is reached; its name is by its
// word, and its identifier tells it after its machine was booted anew. Where no engine tells
// a name, the host has this machine's, which is said, and is recognised by its boot alone.
// A host of several machines bears no identifier of any of them.
func hostFrom(client string, all []machineTold) record.Host {
	h := record.Host{Name: client, Arch: runtime.GOARCH, More: map[string]string{
		half:               "portable: what is known of the engines' machines stands in their facts",
		"clock-resolution": Resolution().String(), clientName: client,
		clientSystem: fmt.Sprintf("%s/%s, %d CPUs", runtime.GOOS, runtime.GOARCH, runtime.NumCPU()),
	}}
	booted := lists.Filter(all, func(m machineTold) bool { return m.boot != "" })
	boots := distinct(booted, func(m machineTold) string { return m.boot })
	byName := func(m machineTold) string { return m.name }
	names := distinct(all, byName) // "" is the name of those that tell none
	// Who has another name than the others is on their machine only by the same boot.
	one := len(boots) <= 1 && (len(names) <= 1 || len(distinct(booted, byName)) == len(names))
	if one && len(boots) == 1 {
		h.Boot = record.Identity(boots[0], record.OfBoot)
	}
	names = slices.DeleteFunc(names, func(n string) bool { return n == "" })
	switch {
	case len(names) == 0: // the name tells no two machines apart
		h.More[record.MoreNameOf] = record.MoreClient
		return h
	case !one && (len(names) == 1 || len(boots) > len(names)):
		names = append(names, "another machine")
	case one && len(names) == 1:
		of := lists.Filter(all, func(m machineTold) bool { return m.name == names[0] })
		h.OS, h.CPUs = of[0].os, of[0].cpus
		ids := distinct(of, func(m machineTold) string { return m.id })
		if ids = slices.DeleteFunc(ids, func(id string) bool { return id == "" }); len(ids) == 1 {
			h.Machine = record.Identity(ids[0], "daemon")
		}
	}
	h.Name = strings.Join(names, " and ")
	return h
}

// distinct are the different values, sorted: two machines are the same two in whichever
// order a study has them.
func distinct(all []machineTold, of func(machineTold) string) []string {
	return slices.Compact(slices.Sorted(slices.Values(lists.Map(all, of))))
}

// The bounds of what an engine tells of itself, in bytes. A digest of a shorter identifier
// could be guessed, or be that of many machines: Docker's have 36, of old 59. No host has a
// longer name.
const (
	leastID  = 32
	mostName = 253
)

// idOf is a daemon's identifier by two answers: "" where they are not of one, as Podman's,
// whoever asks by Docker's name.
func idOf(first, second string) string {
	if first != second || len(first) < leastID {
		return ""
	}
	return first
}

// nameOf is the name that an engine tells of its machine, on one line and with an end.
func nameOf(told string) string {
	name := strings.Join(strings.Fields(harmless.Text(told)), " ")
	return strings.TrimSpace(strings.ToValidUTF8(name[:min(len(name), mostName)], ""))
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
