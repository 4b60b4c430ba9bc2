package run

import (
	"context"
	"io"
	"os"
	"os/exec"
	"testing"

	"golang.org/x/sys/unix"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/baseline"
	"plimsoll/internal/record"
)

// leakPage is what the stand-in for a daemon keeps of each container.
const leakPage = 1 << 20

// leaking is native with a process beside it that keeps 1 MiB for every
// container that was ever held.
type leaking struct {
	baseline.Native
	pid  int
	tell io.Writer
}

func (l leaking) Info() engine.Info {
	i := l.Native.Info()
	i.Name, i.Baseline = "leaking", false
	return i
}

func (l leaking) Open(ctx context.Context, kit *engine.Kit, spec engine.Spec) (engine.Environment, error) {
	env, err := l.Native.Open(ctx, kit, spec)
	if err != nil {
		return nil, err
	}
	return leakingEnv{env, l}, nil
}

type leakingEnv struct {
	engine.Environment
	of leaking
}

func (e leakingEnv) Daemons(context.Context) (sockets []string, pids []int) {
	return nil, []int{e.of.pid}
}

func (e leakingEnv) Hold(ctx context.Context, task engine.Task) (engine.Held, error) {
	if _, err := e.of.tell.Write([]byte{1}); err != nil {
		return nil, err
	}
	return e.Environment.(engine.Holder).Hold(ctx, task)
}

// TestLeaker is no test but the process that leaks: a page more for each byte
// on its standard input.
func TestLeaker(t *testing.T) {
	if os.Getenv("PLIMSOLL_TEST_LEAKER") == "" {
		t.Skip("it is the helper of TestRealFootprint")
	}
	b := make([]byte, 1)
	for {
		if _, err := io.ReadFull(os.Stdin, b); err != nil {
			return
		}
		m, err := unix.Mmap(-1, 0, leakPage, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
		require.NoError(t, err)
		for i := 0; i < len(m); i += 4096 {
			m[i] = 1
		}
	}
}

// Real processes: a payload that touches 64 MiB weighs 64 MiB ± 2 %, and a leak
// of 1 MiB for each container is found, also after all are gone.
func TestRealFootprint(t *testing.T) {
	if testing.Short() {
		t.Skip("measures this machine: left out with -short")
	}
	if os.Geteuid() != 0 {
		t.Skip("native is entered by chroot, which needs root")
	}
	helper := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestLeaker$")
	helper.Env = append(os.Environ(), "PLIMSOLL_TEST_LEAKER=1")
	tell, err := helper.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, helper.Start())
	defer func() {
		tell.Close()
		if err := helper.Wait(); err != nil {
			t.Errorf("the helper: %v", err)
		}
	}()
	o := protocolOf(t, "  - {name: density, parameters: {count: \"6\", touch: 64MiB, mode: background, rest: 0s}}\n", "  - leaking\n",
		leaking{pid: helper.Process.Pid, tell: tell})
	for _, tr := range carried(t, o) {
		if !tr.OK() || tr.Values[record.DensityReached] != 6 {
			t.Fatalf("%+v %v", tr.Failure, tr.Values)
		}
		v := tr.Values
		near(t, "the payload's footprint", v["footprint-payload"], 64<<20, 0.02)
		near(t, "the leak", v["footprint-daemon"], leakPage, 0.1)
		// The test binary is a Go program, whose heap may move by itself.
		near(t, "what the daemon keeps of six", v["not-given-back-daemon"], 6*leakPage, 0.15)
		t.Logf("payload %.4g MiB, daemon %.4g MiB, kept %.4g MiB", v["footprint-payload"]/(1<<20), v["footprint-daemon"]/(1<<20), v["not-given-back-daemon"]/(1<<20))
	}
}
