package audit

import (
	"slices"
	"strings"
)

// common are the facts that every adapter gives in the same words, so that two
// engines can be compared by them. The facts beyond are an engine's own.
var common = []string{
	"version", "daemon", "client", "runtime", "runtime-version", "runtime-path", "storage", "root-fs", "image-store",
	"cgroup", "cgroup-driver", "network", "rootless", "user", "seccomp", "apparmor", "limits", "init", "log", "platform",
}

// brings says which properties a factor changes by its nature: to differ in
// them is to differ in the factor. Whatever else differs is another factor,
// named or not. What the factors without and with change, their mechanisms say.
var brings = map[string][]string{
	"engine":   {"version", "daemon", "image-store", "user", "cgroup-path", "runtime-path", "build", "build-path"},
	"endpoint": {"version", "daemon", "image-store", "cgroup-path", "runtime-path"},
	"runtime": {"runtime", "runtime-version", "runtime-path", "runtime-program", "default-runtime", "platform", "version",
		"kernel", "clock", "build", "build-path"},
	"build":         {"build", "build-path", "build-proof", "settings", "settings-proof", "version", "runtime-version", "runtime-path", "runtime-program", "daemon", "host", "socket", "cli"},
	"storage":       {"storage", "storage-on", "storage-pool", "storage-version", "root-fs", "store", "image-store", "root", "daemon", "host", "graph-root"},
	"client":        {"client", "client-library", "cli", "cli-version", "cli-config", "api-version"},
	"network":       {"network", "network-by", "network-backend", "packet-filter", "ns.net", "flags"},
	"rootless":      {"rootless", "user", "store", "host", "daemon", "ulimits", "ns.user", "uid-map", "gid-map", "cgroup-path", "flags"},
	"privileged":    {"privileged", "user", "ns.user", "uid-map", "gid-map", "capabilities", "seccomp-inside", "apparmor", accessControl},
	"image":         {"image", "image-store"},
	"image-on":      {"image-fs", "image-mount", "root-fs", "root"},
	"seccomp":       {"seccomp", "seccomp-inside", "security", "seccomp-mode"},
	"cgroup":        {"cgroup", "cgroup-path", "ns.cgroup", "cgroup-namespace"},
	"cpu-limit":     {"cpu-limit", "limits", "limits-reason", "cgroup-path"},
	"memory-limit":  {"memory-limit", "limits", "limits-reason", "cgroup-path"},
	"cgroup-driver": {"cgroup-driver", "cgroup-path", "daemon", "host"},
}

// twice are facts that an adapter gives beside what is seen from inside.
var twice = map[string]string{
	"apparmor": accessControl, "seccomp-inside": "seccomp-mode", "cgroup-namespace": "ns.cgroup", "capabilities": "capabilities", "kernel": "kernel",
	"ulimits": "rlimit.nproc", "isolation": "ns.mnt", "root-fs": "root",
}

// ofGuest are the properties that a guest kernel answers for itself.
func ofGuest(key string) bool {
	return strings.HasPrefix(key, "ns.") || strings.HasPrefix(key, "rlimit.") ||
		slices.Contains([]string{"root", "cgroup-path", "seccomp-mode", "no-new-privs", accessControl, "uid-map", "gid-map", "cpu-limit", "memory-limit", "pids-limit"}, key)
}

// Compare says in what two environments differ.
func (a *Audit) Compare(x, y string) (Pair, bool) {
	e, f := a.Environment(x), a.Environment(y)
	if e == nil || f == nil {
		return Pair{}, false
	}
	return compareTerms(e, f), true
}

func compareTerms(x, y *Environment) Pair {
	p := Pair{A: x.Env, B: y.Env, Factors: factorsApart(x, y)}
	other, brought := x.Engine != y.Engine, broughtBy(p.Factors, x, y)
	put := func(kind string, of func(*Environment) map[string]string) {
		a, b := of(x), of(y)
		for _, k := range InOrder(a) {
			v, w := a[k], b[k]
			if w == "" || Canonical(k, v) == Canonical(k, w) {
				continue
			}
			if kind == Configuration {
				if other && !slices.Contains(common, k) {
					continue // an engine's own words
				}
				if strings.HasSuffix(k, "-reason") {
					continue // it explains another fact
				}
				if inside := twice[k]; inside != "" && x.Isolation[inside] != "" && y.Isolation[inside] != "" {
					continue
				}
			}
			if kind == Isolation && x.Guest != y.Guest && ofGuest(k) {
				continue // the guest kernel's view is of the guest
			}
			if k == "cap-bounding" && v == a["capabilities"] && w == b["capabilities"] {
				continue // said already
			}
			d := Difference{Key: k, Kind: kind, A: v, B: w}
			if slices.Contains(brought, k) {
				p.Implied = append(p.Implied, d)
			} else {
				p.Beyond = append(p.Beyond, d)
			}
		}
	}
	put(Configuration, func(e *Environment) map[string]string { return e.Configuration })
	put(Isolation, func(e *Environment) map[string]string { return e.Isolation })
	return p
}

// factorsApart names the factors in which two environments were asked to
// differ. Of one engine, to name a level and to leave it is a difference; of
// two engines it is not, since each has its own factors.
func factorsApart(x, y *Environment) []string {
	out := []string{}
	other := x.Engine != y.Engine
	if other {
		out = append(out, "engine")
	}
	all := map[string]bool{}
	for f := range x.levels {
		all[f] = true
	}
	for f := range y.levels {
		all[f] = true
	}
	for _, f := range InOrder(all) {
		v, w := Canonical(f, x.levels[f]), Canonical(f, y.levels[f])
		if v == w || other && (v == "" || w == "") {
			continue
		}
		out = append(out, f)
	}
	return out
}

// pairs chooses the comparisons that are about one factor.
func (a *Audit) pairs() {
	const guestApart = 1000
	closest, apart := map[[2]string]Pair{}, map[[2]string]int{}
	var engines [][2]string
	for i := range a.Environments {
		x := &a.Environments[i]
		for k := i + 1; k < len(a.Environments); k++ {
			y := &a.Environments[k]
			if x.baseline || y.baseline || len(x.Configuration) == 0 || len(y.Configuration) == 0 {
				continue
			}
			if len(factorsApart(x, y)) > 1 {
				continue
			}
			p := compareTerms(x, y)
			if x.Engine == y.Engine {
				a.Pairs = append(a.Pairs, p)
				continue
			}
			key := [2]string{x.Engine, y.Engine}
			if slices.Contains(engines, [2]string{y.Engine, x.Engine}) {
				key, p = [2]string{y.Engine, x.Engine}, compareTerms(y, x)
			}
			// Of a guest little can be compared; that does not make it alike.
			n := len(p.Beyond)
			if x.Guest != y.Guest {
				n += guestApart
			}
			if least, ok := apart[key]; !ok {
				engines = append(engines, key)
			} else if n >= least {
				continue
			}
			apart[key], closest[key] = n, p
		}
	}
	for _, key := range engines {
		a.Pairs = append(a.Pairs, closest[key])
	}
}

// Comparable says whether a fact is one that engines give in the same words.
func Comparable(key string) bool { return slices.Contains(common, key) }

// Beyond names the properties in which two environments differ that no named
// factor brings with it; none where either is a baseline.
func (a *Audit) Beyond(x, y string) []string {
	if e, f := a.Environment(x), a.Environment(y); !e.baseline && !f.baseline {
		return Keys(compareTerms(e, f).Beyond)
	}
	return nil
}
