package workload

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/measure/probe"
	"plimsoll/internal/record"
)

// builtIn are the workloads that are no files.
func builtIn() []Workload {
	return []Workload{
		{
			Name: "hello", Title: "hello", Group: lifeCycle, Image: "payload",
			What:       "one process that answers, looks around and ends: the life cycle and nothing else",
			Parameters: map[string][]string{"rest": {"0s", "1s"}},
			About:      map[string]string{"rest": "How long it stays idle before it ends, so that nothing of the start is left when the end begins."},
			takes: func(p map[string]string, each time.Duration) time.Duration {
				return each + duration(p["rest"])
			},
			payload: func(p map[string]string) probe.PayloadArgs {
				return probe.PayloadArgs{Report: true, Rest: duration(p["rest"])}
			},
		},
		{
			Name: "status", Title: "status", Group: lifeCycle, Image: "payload",
			What:       "one process that ends with an exit status, which the engine must pass on; a trial with another status fails",
			Parameters: map[string][]string{"code": {"7"}},
			Numbers:    map[string]Number{"code": {0, 124}},
			About:      map[string]string{"code": "The exit status."},
			takes:      itsLife,
			payload: func(p map[string]string) probe.PayloadArgs {
				return probe.PayloadArgs{Report: true, Exit: int(whole(p["code"]))}
			},
		},
		{
			Name: "stop", Title: "stop", Group: lifeCycle, Image: "payload", Detached: true, grace: stopGrace,
			What:       "one process that stays until the engine stops it; on-term says whether it handles SIGTERM",
			Parameters: map[string][]string{"on-term": {"exit", "ignore", "none"}},
			About:      map[string]string{"on-term": "What the payload does on SIGTERM: end, ignore it, or have no handler, so that the kernel drops it for a PID 1 and ends any other process."},
			takes: func(p map[string]string, each time.Duration) time.Duration {
				if p["on-term"] != "exit" {
					return each + stopGrace
				}
				return each
			},
			payload: func(p map[string]string) probe.PayloadArgs {
				return probe.PayloadArgs{Report: true, Stay: true, OnTerm: p["on-term"]}
			},
		},
		{
			Name: "exec", Title: "exec", Group: lifeCycle, Image: "payload", Detached: true, exec: true,
			What:  "one more process in a container that runs: what the engine's own exec takes",
			takes: itsLife,
			payload: func(map[string]string) probe.PayloadArgs {
				return probe.PayloadArgs{Report: true}
			},
		},
		echoWorkload(),
		serverWorkload(),
		pullWorkload(),
		densityWorkload(),
		loadWorkload(),
		leastMemoryWorkload(),
	}
}

// stopGrace is between SIGTERM and SIGKILL in the workload stop.
const stopGrace = 2 * time.Second

// What a whole protocol takes beside its containers, and how many rates a search
// for the highest one tries, more or less.
const (
	rampTime = 2 * time.Second
	searches = 10
)

// itsLife is what a trial takes that is the life of one container.
func itsLife(_ map[string]string, each time.Duration) time.Duration { return each }

// The modes of the workload density.
const (
	modeDetached   = "detached"
	modeBackground = "background"
)

func densityWorkload() Workload {
	return Workload{
		Name: "density", Title: "density", Group: lifeCycle, Image: "payload",
		What: "starts one more container as soon as the last is ready, up to count, then stops them one after the other: times against the number running, and the memory of each",
		Parameters: map[string][]string{
			"count": {"100", "10", "20", "50"},
			"touch": {"0", "16MiB", "64MiB", "256MiB"},
			"mode":  {modeDetached, modeBackground},
			"rest":  {"2s", "0s", "10s", "60s"},
		},
		Numbers: map[string]Number{"count": {1, 10000}},
		About: map[string]string{
			"count": "How many containers run at the top.",
			"touch": "Memory that each payload touches before it is ready.",
			"mode":  "Detached: the engine holds the containers; background: a Plimsoll process holds each, for engines that can't.",
			"rest":  "How long all of them run idle at the top.",
		},
		Small:   map[string]string{"count": "10", "rest": "0s"},
		Metrics: record.DensityMetrics,
		takes: func(p map[string]string, each time.Duration) time.Duration {
			return each*time.Duration(whole(p["count"])) + 2*duration(p["rest"]) + rampTime
		},
		protocol: func(p map[string]string) Instance {
			return Instance{Density: &Density{
				Count: int(whole(p["count"])), TouchBytes: whole(p["touch"]),
				Background: p["mode"] == modeBackground, Rest: duration(p["rest"]),
			}}
		},
	}
}

func loadWorkload() Workload {
	return Workload{
		Name: "load", Title: "load", Group: lifeCycle, Image: "payload",
		What: "short-lived containers at intended times, whether or not earlier ones have ended; each latency counts from the intended time",
		Parameters: map[string][]string{
			"rate":     {"10", "search", "1", "2", "5", "20", "50", "100"},
			"arrivals": {"constant", "poisson"},
			"seconds":  {"10", "30", "60"},
			"tail":     {"1s", "100ms", "200ms", "500ms", "2s", "5s"},
			"quantile": {"0.99", "0.5", "0.9", "0.95"},
		},
		Numbers: map[string]Number{"rate": {1, 10000}, "seconds": {1, 3600}},
		About: map[string]string{
			"rate":     "Arrivals a second; search looks for the highest rate that holds the tail.",
			"arrivals": "Equal gaps, or exponential ones.",
			"seconds":  "How long containers are requested, at each rate.",
			"tail":     "The bound on the latency's quantile, for the search.",
			"quantile": "Which quantile must hold the bound.",
		},
		Small:   map[string]string{"rate": "5", "seconds": "2"},
		Metrics: record.LoadMetrics,
		takes: func(p map[string]string, each time.Duration) time.Duration {
			sending := time.Duration(whole(p["seconds"])) * time.Second
			if p["rate"] == "search" {
				sending *= searches
			}
			return each + sending
		},
		protocol: func(p map[string]string) Instance {
			l := &Load{
				Poisson: p["arrivals"] == "poisson", For: time.Duration(whole(p["seconds"])) * time.Second,
				Tail: duration(p["tail"]),
			}
			if p["rate"] != "search" {
				l.Rate = float64(whole(p["rate"]))
			}
			l.Quantile, _ = strconv.ParseFloat(p["quantile"], 64)
			return Instance{Load: l}
		},
	}
}

// whole reads a level that is a whole number, or one of MiB: all levels that
// come here are ours, and a test reads each.
func whole(level string) int64 {
	unit := int64(1)
	if s, ok := strings.CutSuffix(level, "MiB"); ok {
		level, unit = s, 1<<20
	}
	n, err := strconv.ParseInt(level, 10, 64)
	if err != nil {
		panic("workload: the level " + level + " is not a number")
	}
	return n * unit
}

// duration reads a level that is a time.
func duration(level string) time.Duration {
	d, err := time.ParseDuration(level)
	if err != nil {
		panic("workload: the level " + level + " is not a time")
	}
	return d
}

// knownMetric gives the built-in metric of this id.
func knownMetric(id string) (record.Metric, bool) {
	for _, list := range [][]record.Metric{pullMetrics, record.DensityMetrics, record.LoadMetrics, commandMetrics, serverMetrics, leastMemoryMetrics} {
		if i := slices.IndexFunc(list, func(m record.Metric) bool { return m.ID == id }); i >= 0 {
			return list[i], true
		}
	}
	return record.Metric{}, false
}
