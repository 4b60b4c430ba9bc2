package trace

import (
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"plimsoll/internal/common/require"
	"plimsoll/internal/common/stats"
)

// BenchmarkStart is what following a command costs it, in each way, % of its time and of
// its processor time: medians over blocks that have each way once, in random order.
// PLIMSOLL_COMMAND is the command, by spaces; a machine on which others work too says
// more by the processor time.
func BenchmarkStart(b *testing.B) {
	if os.Geteuid() != 0 {
		b.Skip("tracing needs root")
	}
	command := strings.Fields(os.Getenv("PLIMSOLL_COMMAND"))
	if len(command) == 0 {
		command = []string{"sh", "-c", "for i in 1 2 3 4 5; do /bin/true; done"}
	}
	ways := map[string]*Recorder{"again": {}}
	for name, o := range map[string]Options{
		"events": {}, "stacks": {Stacks: true}, "code": {Stacks: true, Code: true},
		"asks":  {Stacks: true, Code: true, asks: true},
		"calls": {Stacks: true, Code: true, AllCalls: true},
	} {
		r, err := Open(o)
		if err != nil {
			b.Skipf("this kernel can't be traced: %v", err)
		}
		b.Cleanup(func() { _ = r.Close() })
		ways[name] = r
	}
	names := []string{"", "again", "events", "stacks", "asks", "code", "calls"}
	ratios := map[string][]float64{}
	for b.Loop() {
		wall, cpu := map[string]float64{}, map[string]float64{}
		for _, i := range rand.Perm(len(names)) {
			r, traced := ways[names[i]], i > 1
			before := used(b)
			_, ns, err := r.Command(b.Context(), command, traced)
			require.NoError(b, err)
			wall[names[i]], cpu[names[i]] = float64(ns), used(b)-before
		}
		for _, name := range names[1:] {
			ratios[name+"-%"] = append(ratios[name+"-%"], 100*(wall[name]/wall[""]-1))
			ratios[name+"-cpu-%"] = append(ratios[name+"-cpu-%"], 100*(cpu[name]/cpu[""]-1))
		}
	}
	for unit, all := range ratios {
		b.ReportMetric(stats.Median(all), unit)
	}
}

// used is the processor time of the commands that have ended, ns.
func used(b *testing.B) float64 {
	var u unix.Rusage
	require.NoError(b, unix.Getrusage(unix.RUSAGE_CHILDREN, &u))
	return float64(u.Utime.Nano() + u.Stime.Nano())
}
