package recordtest

import (
	"time"

	"plimsoll/internal/record"
)

// Paper is a run of a study with two parts and two scales of a paper's tables
// beside it: values, per cent against native, an engine that is not here, rows
// that nothing stands beside, and cells that no part has.
func Paper() Spec {
	s := Typical()
	bench := record.Workload{ID: "redis/small", Name: "redis", Title: "redis", Params: map[string]string{"requests": "10000"},
		Metrics: []record.Metric{{ID: "get", Unit: "requests/s", Better: record.HigherIsBetter, Title: "GET", What: "GET requests a second"}}}
	s.Name, s.Workloads, s.StealEvery = "baresi2024", append(s.Workloads, bench), 0
	s.Envs = []Env{
		env("native", "native", "native", 560*time.Microsecond),
		env("docker/busybox", "docker", "", 205*time.Millisecond, "image", "busybox"),
		env("docker/debian", "docker", "", 210*time.Millisecond, "image", "debian"),
		env("docker", "docker", "", 200*time.Millisecond),
		env("docker/seccomp-off", "docker", "", 190*time.Millisecond, "seccomp", "off"),
		env("podman", "podman", "", 131*time.Millisecond, "rootless", "no"),
		env("podman/debian", "podman", "", 0, "rootless", "no", "image", "debian"),
	}
	for i, rate := range []float64{100e3, 0, 0, 90e3, 99e3, 50e3, 0} {
		if rate > 0 {
			s.Envs[i].Values = map[string]float64{"get": rate}
		}
	}
	s.Envs[6].FailEvery, s.Envs[6].Class = 1, record.EngineError
	s.Excluded = []record.Excluded{
		{ID: "balena/busybox", Engine: "balena", Levels: map[string]string{"image": "busybox"}, Kind: "unavailable", Reason: "balenaEngine is not installed"},
		{ID: "balena/debian", Engine: "balena", Levels: map[string]string{"image": "debian"}, Kind: "unavailable", Reason: "balenaEngine is not installed"},
	}
	s.Parts = []record.Part{
		{Name: "lifecycle", Environments: []string{"native", "docker/busybox", "docker/debian", "podman/debian", "balena/busybox", "balena/debian"}, Workloads: []string{"hello"}},
		{Name: "applications", Environments: []string{"native", "docker", "podman"}, Workloads: []string{"redis/small"}},
		{Name: "why", Environments: []string{"native", "docker/seccomp-off"}, Workloads: []string{"redis/small"}},
		{Name: "long", Skipped: "It takes too long."},
	}
	column := func(published string, levels ...string) record.PaperColumn {
		c := record.PaperColumn{Published: published, Levels: map[string][]string{}}
		for i := 0; i+1 < len(levels); i += 2 {
			c.Levels[levels[i]] = append(c.Levels[levels[i]], levels[i+1])
		}
		return c
	}
	engines := []record.PaperColumn{column("docker", "engine", "docker"), column("podman", "engine", "podman", "rootless", "no"), column("balena", "engine", "balena")}
	without := map[string]string{"singularity/docker-image": "Nothing is converted at a start."}
	s.Tables = []record.PaperTable{
		{Source: "baresi2024", Table: "Table 3", Title: "Start-up and shutdown", Engines: engines, Without: without,
			Images: []record.PaperColumn{column("ubuntu:18.04", "image", "ubuntu:18.04", "image", "debian"), column("alpine:3", "image", "alpine:3", "image", "busybox"), column("centos:8", "image", "centos:8")},
			Rows: []record.PaperRow{
				{Published: "lifecycle-single/start", Workload: "hello", Metric: "startup", Note: "by a pipe"},
				{Published: "lifecycle-single/stop", Workload: "hello", Metric: "shutdown"},
			}},
		{Source: "baresi2024", Table: "Table 8", Title: "Applications", Engines: engines[:2], Without: without,
			Rows: []record.PaperRow{
				{Published: "redis/get/difference-vs-native", Workload: "redis", Params: map[string]string{"requests": "10000"}, Metric: "get", As: record.PaperDifference},
				{Published: "redis/set/difference-vs-native", Workload: "redis", Metric: "set", As: record.PaperDifference},
			}},
		{Source: "silva2024", Table: "Figure 4", Title: "Loss with Docker", Engines: engines[:1], Baseline: "native/linux 4 threads",
			Rows: []record.PaperRow{{Published: "geekbench6/avg/single-core-score", Workload: "redis", Metric: "get", As: record.PaperOverhead, Note: "not the same at all"}}},
	}
	s.Tables[2].Engines = []record.PaperColumn{column("docker/linux 4 threads", "engine", "docker")}
	return s
}
