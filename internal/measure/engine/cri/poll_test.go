package cri

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	v1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"plimsoll/internal/measure/engine"
)

// counting counts the questions after containers.
type counting struct {
	v1.RuntimeServiceClient
	asked *atomic.Int64
}

func (c counting) ContainerStatus(ctx context.Context, in *v1.ContainerStatusRequest, opts ...grpc.CallOption) (*v1.ContainerStatusResponse, error) {
	c.asked.Add(1)
	return c.RuntimeServiceClient.ContainerStatus(ctx, in, opts...)
}

// TestPollIsRare: a container that works for a second is asked after while it is
// young and when its process has ended, and not meanwhile: the questions take
// processor time of the machine on which it works.
func TestPollIsRare(t *testing.T) {
	everywhere(t, func(t *testing.T, kit *engine.Kit, env *environment) {
		if env.events != nil {
			t.Skip(env.Facts()["exit"])
		}
		var asked atomic.Int64
		env.s.runtime = counting{env.s.runtime, &asked}
		res, err := env.Run(t.Context(), shell(kit, "/bin/busybox usleep 1200000; exit 5"))
		if err != nil || res.Failure != nil || *res.Exit != 5 {
			t.Fatalf("%v, %+v", err, res)
		}
		if n, most := asked.Load(), int64(endYoung/endPeriod)+20; n > most {
			t.Errorf("asked %d times, want %d at most", n, most)
		}
		t.Logf("asked %d times", asked.Load())
	})
}

// TestPeriods: what can't be watched is asked after ever more rarely, and what is
// held or watched hardly at all.
func TestPeriods(t *testing.T) {
	gone := make(chan struct{})
	for name, c := range map[string]struct {
		poll endPoll
		age  time.Duration
		want time.Duration
	}{
		"young":          {endPoll{}, 50 * time.Millisecond, endPeriod},
		"young, held":    {endPoll{held: true}, 50 * time.Millisecond, endPeriod},
		"older":          {endPoll{}, time.Second, 50 * time.Millisecond},
		"old":            {endPoll{}, time.Hour, endRarely},
		"older, held":    {endPoll{held: true}, time.Second, endRarely},
		"older, watched": {endPoll{gone: gone}, time.Second, endRarely},
		"just not young": {endPoll{}, 101 * time.Millisecond, 5050 * time.Microsecond},
	} {
		if got := c.poll.period(c.age); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
