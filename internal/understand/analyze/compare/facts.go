package compare

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/audit"
)

// Fact is something that differs between the two that are compared.
type Fact struct {
	// Where is "machine", "tool", "study", "protocol", "image", "environment",
	// "configuration" or "isolation"; Env is set where it is of one environment.
	Where string `json:"where"`
	Env   string `json:"env,omitempty"`
	Key   string `json:"key"`
	Base  string `json:"base,omitempty"`
	New   string `json:"new,omitempty"`
	// Bars: with this difference a gate between the two says nothing.
	Bars bool `json:"bars,omitempty"`
}

// Facts lists what differs between two runs. Where one side does not say,
// nothing is said.
func Facts(base, next *analyze.Result) []Fact {
	out := []Fact{}
	put := func(where, key string, a, b any, bars bool) {
		if x, y := fmt.Sprint(a), fmt.Sprint(b); x != y && (where == "protocol" || x != "" && y != "") {
			out = append(out, Fact{Where: where, Key: key, Base: x, New: y, Bars: bars})
		}
	}
	h, g := likeKind(base.Run.Host, next.Run.Host)
	put("machine", "name", h.Name, g.Name, false)
	put("machine", "architecture", h.Arch, g.Arch, true)
	put("machine", "cpu", h.CPU, g.CPU, true)
	if h.CPUs > 0 && g.CPUs > 0 { // imported numbers do not say
		put("machine", "cpus", h.CPUs, g.CPUs, true)
	}
	// A kernel keeps some memory for itself, another one more or less.
	const close = 0.05
	if d := float64(h.Memory - g.Memory); h.Memory > 0 && g.Memory > 0 && (d > close*float64(h.Memory) || -d > close*float64(h.Memory)) {
		put("machine", "memory", h.Memory, g.Memory, true)
	}
	put("machine", "virtual", h.Virtual, g.Virtual, true)
	put("machine", "kernel", h.Kernel, g.Kernel, false)
	put("machine", "os", h.OS, g.OS, false)
	put("machine", "cgroup", h.Cgroup, g.Cgroup, false)
	put("machine", "filesystem", h.FileSystem, g.FileSystem, false)
	put("machine", "root", h.Root, g.Root, false)
	for _, k := range slices.Sorted(maps.Keys(h.More)) {
		put("machine", k, h.More[k], g.More[k], false)
	}
	put("tool", "version", base.Run.Tool.Version, next.Run.Tool.Version, false)
	put("tool", "commit", base.Run.Tool.Commit, next.Run.Tool.Commit, false)
	put("tool", "go", base.Run.Tool.Go, next.Run.Tool.Go, false)
	put("tool", "probe", base.Run.Tool.Probe, next.Run.Tool.Probe, false)
	put("study", "name", base.Run.Study, next.Run.Study, false)
	p, q := base.Run.Protocol, next.Run.Protocol
	put("protocol", "blocks", p.Blocks, q.Blocks, false)
	put("protocol", "warm-up blocks", p.Warmup, q.Warmup, false)
	put("protocol", "trials a block", p.PerBlock, q.PerBlock, false)
	put("protocol", "order", p.Order, q.Order, true)
	put("protocol", "cache", p.Cache, q.Cache, true)
	put("protocol", "pause", p.PauseNS, q.PauseNS, false)
	put("protocol", "cpu limit", p.CPUs, q.CPUs, true)
	put("protocol", "memory limit", p.MemoryBytes, q.MemoryBytes, true)
	put("protocol", "trial limit", p.TrialLimitNS, q.TrialLimitNS, false)
	put("protocol", "small sizes", p.SmallSizes, q.SmallSizes, true)
	put("protocol", "tuned machine", p.Tuned, q.Tuned, true)
	put("protocol", "samples a second", p.CollectHz, q.CollectHz, false)
	for _, a := range base.Run.Images {
		for _, b := range next.Run.Images {
			if a.Name == b.Name {
				put("image", a.Name, a.Tree, b.Tree, false)
			}
		}
	}
	return append(out, environmentFacts(base, next)...)
}

// likeKind are two hosts as far as they are of one kind. The host of a portable record is
// the machine of the engines, in earlier versions it was the client: of such two, the facts
// of the engines tell whether they are the same.
func likeKind(a, b record.Host) (x, y record.Host) {
	portable := a.More[record.MoreHalf] != "" && b.More[record.MoreHalf] != ""
	if portable && (a.More[record.MoreClient] == "") != (b.More[record.MoreClient] == "") {
		return record.Host{Arch: a.Arch}, record.Host{Arch: b.Arch}
	}
	return a, b
}

// anyRun is a fact without the id of its run: a path of the run's own directory.
func anyRun(fact, id string) string {
	if id == "" {
		return fact
	}
	return strings.ReplaceAll(fact, id, "RUN")
}

// environmentFacts lists what differs in the environments, facts that are of
// one moment left out.
func environmentFacts(base, next *analyze.Result) []Fact {
	var out []Fact
	for _, e := range base.Environments {
		if len(base.Environments) == 1 && base.Run.Imported != nil && len(next.Environments) == 1 && next.Run.Imported != nil {
			return nil // two versions of one thing, named after their files
		}
		if next.Environment(e.ID) == nil {
			out = append(out, Fact{Where: "environment", Env: e.ID, Key: "only in", Base: "BASE"})
			continue
		}
		x, y := base.Audit.Environment(e.ID), next.Audit.Environment(e.ID)
		if x == nil || y == nil {
			continue
		}
		for _, part := range []struct {
			where string
			a, b  map[string]string
		}{{audit.Configuration, x.Configuration, y.Configuration}, {audit.Isolation, x.Isolation, y.Isolation}} {
			for _, k := range slices.Sorted(maps.Keys(part.a)) {
				v, w := part.a[k], part.b[k]
				if w != "" && anyRun(audit.Canonical(k, v), base.Run.ID) != anyRun(audit.Canonical(k, w), next.Run.ID) {
					out = append(out, Fact{Where: part.where, Env: e.ID, Key: k, Base: v, New: w})
				}
			}
		}
	}
	for _, e := range next.Environments {
		if base.Environment(e.ID) == nil {
			out = append(out, Fact{Where: "environment", Env: e.ID, Key: "only in", New: "NEW"})
		}
	}
	return out
}
