package recordtest

import (
	"maps"
	"time"

	"plimsoll/internal/record"
)

// Audited is a run whose environments say on what terms they ran. Of the
// environments of one engine, "docker/crun" differs from "docker/runc" in the
// runtime only, "docker/open" in seccomp too although it is named for its
// client, "docker/runsc" has a guest kernel, "docker/runc@b" is
// "docker/runc@a" once more, and "podman" is like "docker/runc" but for its
// capabilities and its user namespace.
func Audited() Spec {
	s := Spec{Name: "audited", Seed: 7, Blocks: 8, Warmup: 1, PerBlock: 1, Shared: 0.03,
		Workloads: []record.Workload{{ID: "hello", Name: "hello", Title: "hello"}}}
	facts := map[string]string{"version": "18.1", "client": "api", "runtime": "runc", "runtime-version": "0.1.2", "storage": "overlay2",
		"cgroup": "v2", "cgroup-driver": "cgroupfs", "network": "none", "rootless": "no", "seccomp": "default", "limits": "engine",
		"init": "none", "log": "none", "daemon": "user's", "pid": "77", "image-id": "sha256:0"}
	inside := func() record.Inside {
		return record.Inside{
			Namespaces: map[string]string{"mnt": "own", "pid": "own", "net": "own", "ipc": "own", "uts": "own", "user": "host", "cgroup": "own", "time": "host"},
			UID:        "0:0", UIDMap: "0 0 4294967295", GIDMap: "0 0 4294967295", CapEff: "00000000a80425fb", CapBnd: "00000000a80425fb",
			Seccomp: "2", NoNewPrivs: "0", Cgroup: "v2=/docker/*", Root: "overlay rw,relatime", Kernel: "6.1.0",
			More: map[string]string{"limit.cpu.max": "100000 100000", "limit.memory.max": "1073741824", "limit.pids.max": "max", "pid1": "probe", "rlimit.nofile": "1024:4096"},
		}
	}
	add := func(id, engine string, startUp time.Duration, levels []string, change func(*Env)) {
		e := env(id, engine, "", startUp, levels...)
		e.Facts, e.Inside = maps.Clone(facts), inside()
		if change != nil {
			change(&e)
		}
		s.Envs = append(s.Envs, e)
	}
	native := env("native", "native", "native", 600*time.Microsecond)
	native.Facts = map[string]string{"network": "host", "limits": "cgroup-of-ours", "storage": "directory"}
	native.Inside = inside()
	for k := range native.Inside.Namespaces {
		native.Inside.Namespaces[k] = "host"
	}
	native.Inside.CapEff, native.Inside.Seccomp, native.Inside.Root = "000001ffffffffff", "0", "ext4 ro,relatime"
	s.Envs = append(s.Envs, native)
	add("docker/runc@a", "docker", 200*time.Millisecond, []string{"runtime", "runc"}, nil)
	add("docker/runc@b", "docker", 200*time.Millisecond, []string{"runtime", "runc"}, nil)
	add("docker/crun", "docker", 180*time.Millisecond, []string{"runtime", "crun"}, func(e *Env) {
		e.Facts["runtime"], e.Facts["runtime-version"] = "crun", "1.14"
	})
	add("docker/open", "docker", 220*time.Millisecond, []string{"runtime", "runc", "client", "cli"}, func(e *Env) {
		e.Facts["client"], e.Facts["seccomp"], e.Inside.Seccomp = "cli", "off", "0"
	})
	add("docker/runsc", "docker", 300*time.Millisecond, []string{"runtime", "runsc"}, func(e *Env) {
		e.Clock = record.ClockForeign
		e.Facts["runtime"], e.Facts["runtime-version"], e.Facts["platform"] = "runsc", "2025", "systrap"
		e.Inside = record.Inside{Namespaces: map[string]string{"pid": "own", "net": "own"}, UID: "0:0", UIDMap: "0 0 4294967295",
			CapEff: "00000000a80405fb", CapBnd: "00000000a80405fb", Seccomp: "0", Root: "- ro", Kernel: "4.4.0",
			More: map[string]string{"pid1": "probe"}}
	})
	add("podman", "podman", 150*time.Millisecond, nil, func(e *Env) {
		e.Facts["version"], e.Facts["client"], e.Facts["storage"], e.Facts["daemon"] = "5.4", "cli", "overlay", "none"
		e.Inside.CapEff, e.Inside.CapBnd, e.Inside.Cgroup = "00000000800405fb", "00000000800405fb", "v2=/libpod_parent/*"
		e.Inside.Namespaces["user"], e.Inside.UIDMap = "own", "0 1000 1; 1 100000 65536"
	})
	add("unseen", "lxd", 250*time.Millisecond, nil, func(e *Env) { e.Inside = record.Inside{}; e.Facts = nil; e.Clock = "" })
	return s
}
