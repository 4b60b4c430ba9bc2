package recordtest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
)

// Fleet is one study on several hosts, the truth about which is known: each host is
// another speed for everything, crun takes 12 times as long as native on all of them,
// and runc 20 times on those with an even number and 30 times on the others.
func Fleet(hosts, blocks int) []Spec {
	var out []Spec
	for i := range hosts {
		// Up to twice as slow, and no two hosts the same.
		speed := time.Duration(1000+1000*i/max(1, hosts-1)) * time.Microsecond
		s := Spec{Name: "fleet", Seed: uint64(100 + i), Blocks: blocks, Warmup: 1, PerBlock: 1, Shared: 0.03,
			ID: fmt.Sprintf("fleet-%d", i+1), Host: record.Host{Name: fmt.Sprintf("node%d", i+1), Machine: fmt.Sprint("m", i+1), Boot: fmt.Sprint("b", i+1)},
			Workloads: []record.Workload{{ID: "hello", Name: "hello", Title: "hello"}},
			Envs: []Env{
				env("native", "native", "native", speed),
				env("crun", "oci", "", 12*speed, "runtime", "crun"),
				env("runc", "oci", "", []time.Duration{30, 20}[i%2]*speed, "runtime", "runc"),
			}}
		out = append(out, s)
	}
	return out
}

// WriteAll writes runs into one folder and gives its path and theirs.
func WriteAll(tb testing.TB, runs []Spec) (folder string, dirs []string) {
	tb.Helper()
	folder = tb.TempDir()
	for _, s := range slices.Clone(runs) {
		dir := filepath.Join(folder, s.ID)
		require.NoError(tb, os.Rename(s.Write(tb), dir))
		dirs = append(dirs, dir)
	}
	return folder, dirs
}

// FleetClaims are claims about the known truth of Fleet, of which the first holds on all
// hosts, the second on none and the third on every second one: runc takes 20 times
// as long as native on every second host and 30 times on the others, crun 12 times.
func FleetClaims() []record.Claim {
	claim := func(id, says, runtime, text string, below float64) record.Claim {
		return record.Claim{ID: "fleet/" + id, Says: says, Tests: []record.ClaimTest{{
			Of: map[string][]string{"runtime": {runtime}}, Baseline: "native", Workload: record.WorkloadChoice{Names: []string{"hello"}}, Metric: "startup",
			Ratio: &record.Range{Text: text, Max: &below, MaxOpen: true}}}}
	}
	return []record.Claim{
		claim("crun", "crun takes less than 15 times as long as native.", "crun", "< 15", 15),
		claim("never", "crun takes less than 5 times as long as native.", "crun", "< 5", 5),
		claim("runc", "runc takes less than 25 times as long as native.", "runc", "< 25", 25),
	}
}
