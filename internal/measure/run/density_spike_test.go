package run

import (
	"context"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/baseline"
	"plimsoll/internal/measure/engine/stamp"
	"plimsoll/internal/record"
)

// spikeBytes is what the stand-in for a converter takes while it works.
const spikeBytes = 200 << 20

// converting is native, of whose starts one is made to wait for a process that
// takes memory for a moment and gives it back.
type converting struct {
	baseline.Native
	work func() error
}

func (c converting) Info() engine.Info {
	i := c.Native.Info()
	i.Name, i.Baseline = "converting", false
	return i
}

func (c converting) Open(ctx context.Context, kit *engine.Kit, spec engine.Spec) (engine.Environment, error) {
	env, err := c.Native.Open(ctx, kit, spec)
	return &convertingEnv{Environment: env, work: c.work}, err
}

type convertingEnv struct {
	engine.Environment
	work func() error
	n    int
}

func (e *convertingEnv) Hold(ctx context.Context, task engine.Task) (engine.Held, error) {
	request := stamp.Now()
	if e.n++; e.n == 3 { // before the trial one is held to see whether it can be
		if err := e.work(); err != nil {
			return nil, err
		}
	}
	h, err := e.Environment.(engine.Holder).Hold(ctx, task)
	return converted{h, request}, err
}

// converted is a container whose conversion belongs to its start.
type converted struct {
	engine.Held
	request int64
}

func (c converted) End(ctx context.Context, stop engine.Stop) (engine.Result, error) {
	res, err := c.Held.End(ctx, stop)
	res.Events[record.Request] = c.request
	return res, err
}

// TestConverter is no test but the process that takes memory for a moment: once for
// each byte on its standard input, and with a byte on its output when it is done.
func TestConverter(t *testing.T) {
	if os.Getenv("PLIMSOLL_TEST_CONVERTER") == "" {
		t.Skip("it is the helper of TestRealSpike")
	}
	b := make([]byte, 1)
	for {
		if _, err := io.ReadFull(os.Stdin, b); err != nil {
			return
		}
		m, err := unix.Mmap(-1, 0, spikeBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_POPULATE)
		require.NoError(t, err)
		time.Sleep(8 * sampleEvery)
		require.NoError(t, unix.Munmap(m))
		time.Sleep(2 * sampleEvery)
		_, err = os.Stdout.Write(b)
		require.NoError(t, err)
	}
}

// Real memory that is taken while a container starts, and is given back before the
// start is over, is a spike, though no reading between two starts can see it.
func TestRealSpike(t *testing.T) {
	if testing.Short() {
		t.Skip("measures this machine: left out with -short")
	}
	if os.Geteuid() != 0 {
		t.Skip("native is entered by chroot, which needs root")
	}
	helper := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestConverter$")
	helper.Env = append(os.Environ(), "PLIMSOLL_TEST_CONVERTER=1")
	ask, err := helper.StdinPipe()
	require.NoError(t, err)
	done, err := helper.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, helper.Start())
	defer func() {
		ask.Close()
		_, _ = io.Copy(io.Discard, done) // its last words are the testing package's
		if err := helper.Wait(); err != nil {
			t.Errorf("the helper: %v", err)
		}
	}()
	work := func() error {
		_, err := ask.Write([]byte{1})
		if err == nil {
			_, err = io.ReadFull(done, make([]byte, 1))
		}
		return err
	}
	once(t, func(c *checks) { // the whole machine's memory moves by other programs too
		o := protocolOf(t, "  - {name: density, parameters: {count: \"5\", mode: background, rest: 0s}}\n", "  - converting\n", converting{work: work})
		for _, tr := range carried(t, o) {
			if !tr.OK() || tr.Values[record.DensityReached] != 5 {
				t.Fatalf("%+v %v", tr.Failure, tr.Values)
			}
			v := tr.Values
			c.near("the spike", v[record.DensitySpike], spikeBytes, 0.25)
			if n := v[record.DensitySpikes]; n < 1 || n > 3 {
				c.failf("%v spikes, one was made", n)
			}
			if p := v[record.DensityPeak]; p < 0.75*spikeBytes {
				c.failf("the peak is %v, below the spike", p)
			}
			if s := v[record.DensityPart+"payload"]; s > spikeBytes/10 {
				c.failf("the spike is in the slope: %v", s)
			}
		}
	})
}
