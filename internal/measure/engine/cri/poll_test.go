package cri

import (
	"context"
	"strconv"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	v1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/stamp"
	"plimsoll/internal/record"
)

// counting notes when containers were asked after.
type counting struct {
	v1.RuntimeServiceClient
	mu    *sync.Mutex
	asked *[]int64
}

func (c counting) ContainerStatus(ctx context.Context, in *v1.ContainerStatusRequest, opts ...grpc.CallOption) (*v1.ContainerStatusResponse, error) {
	c.mu.Lock()
	*c.asked = append(*c.asked, stamp.Now())
	c.mu.Unlock()
	return c.RuntimeServiceClient.ContainerStatus(ctx, in, opts...)
}

// TestPollIsRare: a container that works for a second is asked after while it is
// young and when its process has ended, and not meanwhile: the questions take
// processor time of the machine on which it works. How long a server takes to say
// that a process has ended, when it is asked often again, is the server's affair.
func TestPollIsRare(t *testing.T) {
	everywhere(t, func(t *testing.T, kit *engine.Kit, env *environment) {
		if env.events != nil {
			t.Skip(env.Facts()["exit"])
		}
		const works = 1200 * time.Millisecond
		c := counting{env.s.runtime, new(sync.Mutex), new([]int64)}
		env.s.runtime = c
		res, err := env.Run(t.Context(), shell(kit, "/bin/busybox usleep "+strconv.Itoa(int(works.Microseconds()))+"; exit 5"))
		if err != nil || res.Failure != nil || *res.Exit != 5 {
			t.Fatalf("%v, %+v", err, res)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		// It has not ended before it has worked, whenever it began.
		old, end := (*c.asked)[0]+int64(endYoung+20*endPeriod), res.Events[record.Request]+int64(works)
		meanwhile := 0
		for _, at := range *c.asked {
			if at > old && at < end {
				meanwhile++
			}
		}
		t.Logf("asked %d times, %d of them in the %v between", len(*c.asked), meanwhile, time.Duration(end-old))
		if most := int(works/endRarely) + 3; meanwhile > most {
			t.Errorf("asked %d times while it worked, want %d at most", meanwhile, most)
		}
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
