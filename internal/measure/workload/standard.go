package workload

import "plimsoll/internal/record"

// The metrics that every workload from a file has, stamped by the probe around
// its main step.
const (
	MetricTime    = "time"
	MetricCPUTime = "cpu-time"
	MetricMaxRSS  = "max-rss"
)

// MetricRanksDone is the one that every workload of ranks has beside them.
const MetricRanksDone = "ranks-done"

// rankMetrics are those of all ranks together.
var rankMetrics = []record.Metric{
	{ID: MetricRanksDone, Unit: "ns", Better: record.LowerIsBetter, Title: "all ranks done",
		What: "from the launcher's start until the program of the last rank has ended"},
}

// standard are those metrics, in the order in which a report shows them after
// the workload's own.
var standard = []record.Metric{
	{ID: MetricTime, Unit: "ns", Better: record.LowerIsBetter, Title: "time",
		What: "from the start of the workload's main step to its end, by the container's clock"},
	{ID: MetricCPUTime, Unit: "ns", Better: record.LowerIsBetter, Title: "CPU time",
		What: "user and system time of the main step and the children that it waited for, as wait4 gives them"},
	{ID: MetricMaxRSS, Unit: "bytes", Better: record.LowerIsBetter, Title: "peak memory",
		What: "the largest resident set of a process of the main step, as wait4 gives it"},
}
