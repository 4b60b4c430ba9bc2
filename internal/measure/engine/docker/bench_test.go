package docker

import (
	"context"
	"testing"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"
	"golang.org/x/sys/unix"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/enginetest"
	"plimsoll/internal/measure/engine/stamp"
	"plimsoll/internal/measure/probe"
)

// BenchmarkLifecycle compares the rate of life cycles through the adapter with
// that of the barest loop over the same client, and the CPU time that this
// process takes for each. The two alternate within one iteration, so that
// what disturbs the machine disturbs both.
func BenchmarkLifecycle(b *testing.B) {
	kit := enginetest.Kit(b)
	opened, err := New().Open(b.Context(), kit, engine.Spec{ID: "bench", Levels: map[string]string{engine.Network: "none"}})
	if err != nil {
		b.Skip(err)
	}
	b.Cleanup(func() { _ = opened.Close(context.Background()) })
	env := opened.(*environment)
	var adapter, bare spent
	for b.Loop() {
		var args probe.PayloadArgs
		task := newTask(&args)
		adapter.add(func() {
			if res, err := env.Run(b.Context(), task); err != nil || res.Failure != nil {
				b.Fatal(err, res.Failure)
			}
		})
		task = newTask(&args)
		bare.add(func() {
			require.NoError(b, bareLife(b.Context(), env.d.Client, env.settings.options(task)))
		})
	}
	n := float64(b.N)
	b.ReportMetric(float64(bare.wall)/float64(adapter.wall), "rate/bare")
	b.ReportMetric(float64(adapter.cpu)/n/1e3, "adapter-cpu-µs/op")
	b.ReportMetric(float64(bare.cpu)/n/1e3, "bare-cpu-µs/op")
	b.ReportMetric(float64(adapter.wall)/n/1e6, "adapter-ms/op")
}

// bareLife is what any program would do.
func bareLife(ctx context.Context, c *client.Client, o client.ContainerCreateOptions) error {
	made, err := c.ContainerCreate(ctx, o)
	if err != nil {
		return err
	}
	att, err := c.ContainerAttach(ctx, made.ID, client.ContainerAttachOptions{Stream: true, Stdout: true, Stderr: true})
	if err != nil {
		return err
	}
	defer att.Close()
	w := c.ContainerWait(ctx, made.ID, client.ContainerWaitOptions{Condition: container.WaitConditionNextExit})
	if _, err := c.ContainerStart(ctx, made.ID, client.ContainerStartOptions{}); err != nil {
		return err
	}
	select {
	case <-w.Result:
	case err := <-w.Error:
		return err
	}
	_, err = c.ContainerRemove(ctx, made.ID, client.ContainerRemoveOptions{RemoveVolumes: true})
	return err
}

// spent is time, all in ns: by the clock, and CPU time of this process.
type spent struct{ wall, cpu int64 }

func (s *spent) add(f func()) {
	var before, after unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &before)
	began := stamp.Now()
	f()
	s.wall += stamp.Now() - began
	_ = unix.Getrusage(unix.RUSAGE_SELF, &after)
	s.cpu += after.Utime.Nano() + after.Stime.Nano() - before.Utime.Nano() - before.Stime.Nano()
}
