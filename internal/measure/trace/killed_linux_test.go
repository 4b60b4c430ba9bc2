package trace

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/trace/tracetest"
	"plimsoll/internal/record"
)

// TestKilled: of a recorder that is killed while it records, no program and no link is
// left in the kernel.
func TestKilled(t *testing.T) {
	recorder(t) // or it skips
	c := exec.Command("/proc/self/exe")
	c.Args = []string{"killed-recorder"}
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	defer func() { _ = c.Process.Kill(); _ = c.Wait() }()
	said, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	var own int
	_, err = fmt.Sscan(said, &own)
	require.NoError(t, err)
	if own == 0 {
		t.Skip("this kernel takes no programs")
	}
	held := tracetest.Held(c.Process.Pid)
	if len(held) < own {
		t.Fatalf("it records with %d programs and links, and holds %v", own, held)
	}
	tracetest.AllThere(t, held)
	require.NoError(t, c.Process.Kill())
	_ = c.Wait()
	tracetest.AllGone(t, held)
}

// recordUntilKilled says with how many programs and links it records.
func recordUntilKilled() {
	r, err := Open(Options{Stacks: true, Code: true, AllCalls: true, Pages: 64})
	must(err)
	_, err = r.Record(func() (record.TraceHead, error) {
		own := 0
		if l := r.switches; l != nil {
			own += 2 + len(l.links)
		}
		if l := r.execs; l != nil {
			own += 1 + len(l.links)
		}
		if l := r.calls; l != nil {
			own += 2 + len(l.links)
		}
		fmt.Println(own)
		time.Sleep(time.Hour)
		return record.TraceHead{}, nil
	})
	must(err)
}
