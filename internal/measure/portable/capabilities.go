package portable

import (
	"context"
	"encoding/json"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"plimsoll/internal/record"
)

// The metrics that a trial has besides those of its workload.
const (
	roundTripMetric = "round-trip"
	memoryMetric    = "engine-memory"
	cpuMetric       = "engine-cpu"
)

// beside are those metrics. They are of no ranking: they say on what terms a time was
// measured, and what the engine itself counts.
var beside = []record.Metric{
	{ID: roundTripMetric, Unit: "ns", Better: record.LowerIsBetter, Title: "round trip", Kind: record.Sampled,
		What: "one request to the daemon that it answers at once, just before the trial, over the connection that stays open; it is in every time of the trial, and subtracted from none"},
	{ID: memoryMetric, Unit: "bytes", Better: record.LowerIsBetter, Title: "memory, by the engine", Kind: record.Sampled,
		What: "what the engine itself says that the container takes (docker stats), while it is held for an execution"},
	{ID: cpuMetric, Unit: "ns", Better: record.LowerIsBetter, Title: "CPU time, by the engine", Kind: record.Sampled,
		What: "what the engine itself says that the container has used of the processors since it was made (docker stats), when an execution in it has ended"},
}

// told is what the engine counts of a container; nil where it says nothing.
func (d *Daemon) told(ctx context.Context, id string) map[string]float64 {
	answer, err := d.ContainerStats(ctx, id, client.ContainerStatsOptions{})
	if err != nil {
		return nil
	}
	defer answer.Body.Close()
	var s container.StatsResponse
	if json.NewDecoder(answer.Body).Decode(&s) != nil {
		return nil
	}
	return counted(s)
}

// counted is what an engine's answer says; what it leaves out, as where a control group
// lacks the controller, is not there.
func counted(s container.StatsResponse) map[string]float64 {
	values := map[string]float64{}
	if used := s.MemoryStats.Usage; used > 0 {
		for _, cache := range []string{"total_inactive_file", "inactive_file"} { // cgroup v1, v2: as docker stats prints
			if v, ok := s.MemoryStats.Stats[cache]; ok && v < used {
				used -= v
				break
			}
		}
		values[memoryMetric] = float64(used)
	}
	if ns := s.CPUStats.CPUUsage.TotalUsage; ns > 0 {
		values[cpuMetric] = float64(ns)
	}
	return values
}
