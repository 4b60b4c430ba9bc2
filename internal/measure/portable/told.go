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
)

// beside are those metrics. They are of no ranking: they say on what terms a time was
// measured, and what the engine itself counts.
var beside = []record.Metric{
	{ID: roundTripMetric, Unit: "ns", Better: record.LowerIsBetter, Title: "round trip", Kind: record.Sampled,
		What: "one request to the daemon that it answers at once, just before the trial, over the connection that stays open; it is in every time of the trial, and subtracted from none"},
	{ID: memoryMetric, Unit: "bytes", Better: record.LowerIsBetter, Title: "memory, by the engine", Kind: record.Sampled,
		What: "what the engine itself says that the container takes (docker stats), while it is held for an execution"},
}

// told is what the engine counts of a container; nil where it says nothing.
func (d *Daemon) told(ctx context.Context, id string) map[string]float64 {
	answer, err := d.ContainerStats(ctx, id, client.ContainerStatsOptions{})
	if err != nil {
		return nil
	}
	defer answer.Body.Close()
	var s container.StatsResponse
	if json.NewDecoder(answer.Body).Decode(&s) != nil || s.MemoryStats.Usage == 0 {
		return nil
	}
	used := s.MemoryStats.Usage
	for _, cache := range []string{"total_inactive_file", "inactive_file"} { // cgroup v1, v2: as docker stats prints
		if v, ok := s.MemoryStats.Stats[cache]; ok && v < used {
			used -= v
			break
		}
	}
	return map[string]float64{memoryMetric: float64(used)}
}
