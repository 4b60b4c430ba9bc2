package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"plimsoll/internal/bench/beside"
	"plimsoll/internal/common/safepath"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/baseline"
	"plimsoll/internal/measure/engine/charliecloud"
	"plimsoll/internal/measure/image"
	"plimsoll/internal/measure/mpi"
	"plimsoll/internal/measure/place"
)

// Our latency beside NetPIPE's, in native and in a container, by turns. Both are
// half of a round trip of blocking messages; NetPIPE's mean is over repeats of its
// own. NetPIPE sends from the buffer that it receives into, and so does our program
// here; the workload has two, as the OSU micro-benchmarks do, which is another
// quantity where the processors' caches are not shared. It prints the least of three
// means, and so does ours here. One launcher with the same options starts both, so
// that ranks are bound alike and the library's limits are the same.
//
// A pair is over in a second, and pairs of all environments and sizes take turns:
// what slows the machine down for some seconds then falls on all alike.
const mpiPairs = 24

// mpiSizes are the messages that are held beside each other, with the round trips
// of one mean of either program: some 20 ms, more than a processor is taken away
// for at a time. Below 4 KiB the two are shown and not judged: what is measured
// there is the loop too.
var mpiSizes = []struct{ bytes, rounds int }{{64, 20000}, {4096, 10000}, {65536, 1000}, {1048576, 100}}

// netpipeTrials are the trials of NetPIPE 3.7.2 (TRIALS in its NetPIPE.h).
const netpipeTrials = "3"

func mpiLatency(ctx context.Context, args ...string) (err error) {
	pairs, err := pairsAsked(args, mpiPairs)
	if err != nil {
		return err
	}
	netpipe, err := exec.LookPath("NPopenmpi")
	if err != nil {
		return fmt.Errorf("%w: apt-get install netpipe-openmpi", err)
	}
	engines := []engine.Engine{baseline.Native{}, charliecloud.New()}
	kit, done, err := benchKit(ctx, engines)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	var cells []*mpiCell
	for _, e := range engines {
		name := e.Info().Name
		env, err := e.Open(ctx, kit, engine.Spec{ID: "bench-" + name, Levels: map[string]string{engine.Image: "toolbox"}})
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		defer func() { _ = env.Close(context.WithoutCancel(ctx)) }()
		work, err := mpiWork(kit, name, netpipe)
		if err != nil {
			return err
		}
		for _, s := range mpiSizes {
			cells = append(cells, &mpiCell{kit: kit, env: env, name: name, work: work, size: s.bytes, rounds: s.rounds})
		}
	}
	for _, c := range cells { // which warms up, too
		if err := c.sameWay(ctx); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	for range pairs {
		for _, i := range rand.Perm(len(cells)) {
			if err := errors.Join(ctx.Err(), cells[i].pair(ctx)); err != nil {
				return fmt.Errorf("%s: %w", cells[i].name, err)
			}
		}
	}
	missed := 0
	for _, c := range cells {
		missed += beside.ShowLatency(os.Stdout, c.name, c.size, c.ours, c.theirs)
	}
	if missed > 0 {
		return fmt.Errorf("%d sizes of %d bytes and more differ by more than %.0f %%", missed, beside.JudgedFrom, 100*beside.Agreement)
	}
	return nil
}

// mpiWork makes the ranks' directory, with both programs in it.
func mpiWork(kit *engine.Kit, name, netpipe string) (string, error) {
	work := filepath.Join(kit.Dir, "mpi-"+name)
	if err := os.MkdirAll(work, 0o755); err != nil {
		return "", err
	}
	program, err := os.ReadFile(netpipe)
	if err == nil {
		err = os.WriteFile(filepath.Join(work, "netpipe"), program, 0o755) //nolint:gosec // a program is executable
	}
	return work, errors.Join(err, mpi.Put(work))
}

// mpiCell is an environment and a size of messages.
type mpiCell struct {
	kit          *engine.Kit
	env          engine.Environment
	name, work   string
	size, rounds int
	ours, theirs []float64
}

// sameWay sees to it that the messages of both go by the same way.
func (c *mpiCell) sameWay(ctx context.Context) error {
	var ways [2]string
	for i, argv := range [][]string{c.ourArgv(), c.netpipeArgv()} {
		_, errs, err := job(ctx, c.kit, c.env, c.work, mpi.Verbose, argv...)
		if err != nil {
			return fmt.Errorf("%w: %s", err, errs)
		}
		ways[i] = mpi.Transport(errs, mpi.Seen{})
	}
	if ways[0] != ways[1] || ways[0] == "" {
		return fmt.Errorf("our messages of %d bytes go by %q, and NetPIPE's by %q", c.size, ways[0], ways[1])
	}
	return nil
}

// pair measures by both, in random order.
func (c *mpiCell) pair(ctx context.Context) error {
	var a, b float64
	turns := []func() error{
		func() (err error) { a, err = c.ourLatency(ctx); return },
		func() (err error) { b, err = c.netpipeLatency(ctx); return },
	}
	if err := shuffled(turns); err != nil {
		return err
	}
	c.ours, c.theirs = append(c.ours, a), append(c.theirs, b)
	return nil
}

// job runs two ranks of a program and gives both streams of all ranks.
func job(ctx context.Context, kit *engine.Kit, env engine.Environment, work string, settings []string, argv ...string) (out, errs []byte, err error) {
	dir, err := os.MkdirTemp(kit.Dir, "ranks-")
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, safepath.RemoveAll(dir)) }()
	launch, err := place.Place{}.Launch(ctx, place.Job{Ranks: 2, Nodes: 1, Dir: dir}, kit.LookPath)
	if err != nil {
		return nil, nil, err
	}
	res, err := env.(engine.Parallel).RunRanks(ctx, engine.Ranks{Launcher: launch.Argv, Env: append(launch.Env, settings...), PerNode: 2, Shared: true}, engine.Task{
		Name: adapter.Name(kit.RunID, "mpi", adapter.Word()[:8]), Argv: argv, Limit: time.Minute,
		Mounts: []engine.Mount{{Kind: engine.Bind, Source: work, Target: image.WorkDir}},
	})
	if err != nil {
		return nil, nil, err
	}
	said, err := place.Outputs(dir, 1<<20)
	for _, s := range said {
		out, errs = append(out, s.Stdout...), append(errs, s.Stderr...)
	}
	if res.Failure != nil {
		err = errors.Join(err, errors.New(res.Failure.Text))
	}
	return out, errs, err
}

func (c *mpiCell) ourArgv() []string {
	return []string{image.WorkDir + "/" + mpi.FileName, "latency", "--buffers", "one", "--best", netpipeTrials, "--size", strconv.Itoa(c.size), "--iterations", strconv.Itoa(c.rounds)}
}

// ourLatency is half of the mean round trip in ns, by our program.
func (c *mpiCell) ourLatency(ctx context.Context) (float64, error) {
	out, errs, err := job(ctx, c.kit, c.env, c.work, nil, c.ourArgv()...)
	if err != nil {
		return 0, fmt.Errorf("%w: %s", err, errs)
	}
	var said struct {
		Latency float64 `json:"latency_ns"`
	}
	if err := json.Unmarshal(out, &said); err != nil || said.Latency <= 0 {
		return 0, fmt.Errorf("our program said %q: %w", out, err)
	}
	return said.Latency, nil
}

func (c *mpiCell) netpipeArgv() []string {
	n := strconv.Itoa(c.size)
	return []string{image.WorkDir + "/netpipe", "-l", n, "-u", n, "-p", "0", "-n", strconv.Itoa(c.rounds), "-o", image.WorkDir + "/netpipe.out"}
}

// netpipeLatency is the same by NetPIPE, which prints microseconds with two
// digits: of small messages they are half a per cent.
func (c *mpiCell) netpipeLatency(ctx context.Context) (float64, error) {
	_, errs, err := job(ctx, c.kit, c.env, c.work, nil, c.netpipeArgv()...)
	if err != nil {
		return 0, fmt.Errorf("%w: %s", err, errs)
	}
	return beside.ReadNetPIPE(errs, c.size)
}
