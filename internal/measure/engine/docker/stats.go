package docker

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/record"
)

// MemoryTold is documented in engine.Teller: what `docker stats` prints. The
// daemon is asked at once for one look at each container.
func (env *environment) MemoryTold(ctx context.Context, containers []string) (int64, error) {
	if !env.memoryLimit {
		// It would tell what all of the machine takes.
		return 0, &engine.Error{Class: record.Unsupported, Text: "the " + env.d.flavour.name + " daemon has no cgroup for the memory of each container (rootless, version 1)"}
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	var sum int64
	for _, name := range containers {
		answer, err := env.d.ContainerStats(ctx, name, client.ContainerStatsOptions{})
		if err != nil {
			return 0, env.d.wrong("asking for the memory of "+name, err)
		}
		var s container.StatsResponse
		err = json.NewDecoder(answer.Body).Decode(&s)
		if err = errors.Join(err, answer.Body.Close()); err != nil {
			return 0, env.d.wrong("reading the memory of "+name, err)
		}
		sum += told(s.MemoryStats)
	}
	return sum, nil
}

// told is the number that the command prints: what the control group is charged
// with, but for the page cache that can go at once; `docker stats` documents it.
func told(m container.MemoryStats) int64 {
	for _, cache := range []string{"total_inactive_file", "inactive_file"} { // version 1, version 2
		if v, ok := m.Stats[cache]; ok && v < m.Usage {
			return int64(m.Usage - v)
		}
	}
	return int64(m.Usage)
}
