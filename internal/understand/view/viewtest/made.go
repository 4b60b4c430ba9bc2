package viewtest

import (
	"fmt"
	"time"

	"plimsoll/internal/record"
)

// engines are in the order in which environments take them.
var engines = []struct {
	name, baseline string
	startUp        time.Duration
	steps          bool
	levels         [2]string
}{
	{name: "native", baseline: "native", startUp: 560 * time.Microsecond},
	{name: "floor", baseline: "floor", startUp: 940 * time.Microsecond},
	{name: "docker", startUp: 205 * time.Millisecond, steps: true, levels: [2]string{"runtime", "runc"}},
	{name: "podman", startUp: 131 * time.Millisecond, levels: [2]string{"rootless", "no"}},
	{name: "containerd", startUp: 62 * time.Millisecond, steps: true, levels: [2]string{"storage", "overlayfs"}},
	{name: "oci", startUp: 13 * time.Millisecond, steps: true, levels: [2]string{"runtime", "crun"}},
	{name: "runsc", startUp: 140 * time.Millisecond, steps: true, levels: [2]string{"runtime", "runsc"}},
	{name: "lxd", startUp: 640 * time.Millisecond, steps: true, levels: [2]string{"storage", "zfs"}},
	{name: "apptainer", startUp: 95 * time.Millisecond, levels: [2]string{"image", "sif"}},
	{name: "charliecloud", startUp: 3400 * time.Microsecond, levels: [2]string{"image", "squashfs"}},
	{name: "cri", startUp: 180 * time.Millisecond, steps: true, levels: [2]string{"runtime", "crun"}},
}

// engine gives the i-th environment's engine, the round in which its turn has
// come again, and what it takes: one per cent more each round, so that some
// cannot be told apart.
func engine(i int) (at, round int, startUp float64) {
	if i < len(engines) {
		return i, 0, float64(engines[i].startUp)
	}
	const baselines = 2
	n := len(engines) - baselines
	at, round = baselines+(i-len(engines))%n, 1+(i-len(engines))/n
	return at, round, float64(engines[at].startUp) * (1 + 0.01*float64(round))
}

const hostile = "<script>alert(1)</script>\"'&\x1b[31m\x00\u202e\xff</title><img src=x onerror=alert(1)>"

func (s Spec) word(kind string, i int) string {
	if !s.Hostile {
		return ""
	}
	return fmt.Sprintf("%s%d", kind+hostile, i)
}

func (s Spec) run() *record.Run {
	r := &record.Run{
		Format: record.FormatVersion, ID: "5eaf00d1", Started: began, Status: "done",
		Tool:  record.Tool{Version: "0.1.0", Go: "go1.26"},
		Study: record.Study{Name: "made-up", Title: "A made-up run" + s.word(" ", 0)},
		Protocol: record.Protocol{Blocks: s.Blocks, PerBlock: perBlock, Seed: 42, Order: "random", Cache: "warm", CPUs: 1,
			MemoryBytes: 1 << 30, TrialLimitNS: int64(10 * time.Second), Delta: 0.01},
		Host: record.Host{Name: "lab" + s.word(" ", 1), Kernel: "6.1.0", OS: "Debian GNU/Linux 12 (bookworm)", Arch: "amd64", CPU: "Imaginary 3000",
			CPUs: 2, Memory: 24 << 30, Cgroup: "v2", FileSystem: "ext4", Root: true, Virtual: "kvm",
			Remarks: []record.Remark{{Code: "busy", Level: "warn", Text: "Other programs use 3 % of the CPUs." + s.word(" ", 2), Advice: "end them, or wait until they have ended"}}},
		Excluded: []record.Excluded{{ID: "apptainer-instance", Engine: "apptainer", Kind: "unavailable", Reason: "it is not installed" + s.word(" ", 3), Fix: "make lab"}},
	}
	if s.Running {
		r.Status = "running"
	} else {
		r.Finished = began.Add(time.Duration(s.trials()) * time.Second)
	}
	for i := range s.Envs {
		at, round, _ := engine(i)
		e := record.Environment{ID: engines[at].name, Engine: engines[at].name, Baseline: engines[at].baseline, Clock: record.ClockShared,
			Levels: map[string]string{}, Facts: map[string]string{"version": fmt.Sprintf("1.%d.3", round), "network": "none"}}
		if f := engines[at].levels; f[0] != "" {
			e.Levels[f[0]] = f[1]
			e.ID += "/" + f[1]
		}
		if round > 0 {
			e.Levels["variant"] = fmt.Sprint(round)
			e.ID += fmt.Sprintf("/variant-%d", round)
		}
		if engines[at].name == "runsc" {
			e.Clock = record.ClockForeign
		}
		if s.Hostile {
			e.ID += s.word("/", i)
			e.Facts["note"] = s.word("fact ", i)
		}
		r.Environments = append(r.Environments, e)
	}
	for i := range s.Workloads {
		r.Workloads = append(r.Workloads, s.workload(i))
	}
	return r
}

func (s Spec) trials() int { return s.Envs * s.Workloads * s.Blocks * perBlock }

// workload is one about the life cycle, then in turn those with a rate and with
// a time of their own.
func (s Spec) workload(i int) record.Workload {
	sampled := []record.Metric{
		{ID: "payload-cpu", Unit: "ns", Better: record.LowerIsBetter, Title: "CPU, payload", What: "CPU time of the payload", Kind: record.Sampled},
		{ID: "host-switches", Unit: "count", Better: record.LowerIsBetter, Title: "switches, host", What: "context switches of the machine", Kind: record.Detail},
	}
	w := record.Workload{ID: "hello", Name: "hello", Title: "hello", Metrics: sampled}
	switch {
	case i > 0 && i%2 == 1:
		w = record.Workload{ID: fmt.Sprintf("requests-%d", i), Name: "requests", Title: fmt.Sprintf("requests, %d clients", i),
			Metrics: append([]record.Metric{{ID: "rate", Unit: "requests/s", Better: record.HigherIsBetter, Title: "rate", What: "requests a second"}}, sampled...)}
	case i > 0:
		w = record.Workload{ID: fmt.Sprintf("files-%d", i), Name: "files", Title: fmt.Sprintf("%d files", 100*i),
			Metrics: append([]record.Metric{{ID: "time", Unit: "ns", Better: record.LowerIsBetter, Title: "time", What: "until all is written"}}, sampled...)}
	}
	if s.Hostile {
		w.Title += s.word(" ", i)
		w.ID += s.word("/", i)
	}
	return w
}
