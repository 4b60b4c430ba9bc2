package workload

import (
	"time"

	"plimsoll/internal/record"
)

// The metrics of the workload least-memory: a bracket.
const (
	MetricLeastMemory      = "least-memory"
	MetricLeastMemoryFails = "least-memory-fails"
)

var leastMemoryMetrics = []record.Metric{
	{ID: MetricLeastMemory, Unit: "bytes", Better: record.LowerIsBetter, Title: "least memory",
		What: "the least memory limit with which a container started and its payload answered"},
	{ID: MetricLeastMemoryFails, Unit: "bytes", Better: record.LowerIsBetter, Title: "least memory, fails",
		What: "the largest memory limit tried below that, with which none started; within a tenth of it, or a page"},
}

// Some twenty starts, of which those that fail may take longer.
const leastMemoryStarts = 24

func leastMemoryWorkload() Workload {
	return Workload{
		Name: "least-memory", Title: "least memory", Group: lifeCycle, Image: "payload",
		What:       "searches for the least memory limit with which a container starts: halves it until a start fails twice, then narrows it down to a tenth",
		Parameters: map[string][]string{"from": {"64MiB", "256MiB"}, "program": {"payload", "busybox"}},
		About: map[string]string{
			"from":    "The limit that the search begins with, with which a start must succeed.",
			"program": "What starts: our own payload, or BusyBox's echo, in an image that has it.",
		},
		Metrics: leastMemoryMetrics,
		takes: func(_ map[string]string, each time.Duration) time.Duration {
			return leastMemoryStarts * each
		},
		protocol: func(p map[string]string) Instance {
			return Instance{LeastMemory: &LeastMemory{From: whole(p["from"]), BusyBox: p["program"] == "busybox"}}
		},
	}
}
