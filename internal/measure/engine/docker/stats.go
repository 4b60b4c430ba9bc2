package docker

import (
	"context"
	"encoding/json"
	"errors"
	"sync/atomic"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"
	"golang.org/x/sync/errgroup"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/record"
)

// asked bounds how many containers a daemon is asked for at a time: it may take a
// second over each, as it looks twice.
const asked = 32

// MemoryTold returns what `docker stats --no-stream` prints.
func (env *environment) MemoryTold(ctx context.Context, containers []string) (int64, error) {
	if !env.memoryLimit {
		// It would tell what all of the machine takes.
		return 0, &engine.Error{Class: record.Unsupported, Text: "the " + env.d.flavour.name + " daemon has no cgroup for the memory of each container (rootless, version 1)"}
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	var sum atomic.Int64
	all, ctx := errgroup.WithContext(ctx)
	all.SetLimit(asked)
	for _, name := range containers {
		all.Go(func() error {
			answer, err := env.d.ContainerStats(ctx, name, client.ContainerStatsOptions{})
			if err != nil {
				return env.d.wrong("asking for the memory of "+name, err)
			}
			var s container.StatsResponse
			err = json.NewDecoder(answer.Body).Decode(&s)
			if err = errors.Join(err, answer.Body.Close()); err != nil {
				return env.d.wrong("reading the memory of "+name, err)
			}
			sum.Add(told(s.MemoryStats))
			return nil
		})
	}
	err := all.Wait()
	return sum.Load(), err
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
