//go:build linux

package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
)

// A limit of the command line holds inside, by the kernel's word in the container, of
// an engine that keeps it itself and of a bare runtime, each by each; and the report
// tells them apart as the levels of a factor.
func TestLimitsHold(t *testing.T) {
	if testing.Short() {
		t.Skip("starts containers of real engines: left out with -short")
	}
	if os.Geteuid() != 0 {
		t.Skip("native and bare runtimes need root")
	}
	p := &subject{t: t, dir: t.TempDir()}
	study, out := filepath.Join(p.dir, "limited.yaml"), filepath.Join(p.dir, "limited")
	text := "plimsoll: 1\nname: limited\nprotocol: {blocks: 2, warmup: 0}\nbaselines: [native]\nworkloads: [hello]\n" +
		"environments: [docker, {engine: oci, runtime: crun}]\n"
	require.NoError(t, os.WriteFile(study, []byte(text), 0o600))
	if code, said := p.run("run", study, "--limit-cpus", "0.5,1", "--limit-memory", "64MiB,none", "--wait", "--progress", "none", "--force", "-o", out); code != 0 {
		t.Fatalf("status %d: %s", code, said)
	}
	r, err := record.Open(out)
	require.NoError(t, err)
	insides, err := r.Insides()
	require.NoError(t, err)
	seen := map[string]int{}
	for _, in := range insides {
		var engine string
		cpus, memory := 0.0, int64(0)
		for _, e := range r.Run().Environments {
			if e.ID == in.Env {
				engine = e.Engine
				cpus, _ = strconv.ParseFloat(e.Levels["cpu-limit"], 64)
				if e.Levels["memory-limit"] == "64MiB" {
					memory = 64 << 20
				}
			}
		}
		if engine == "floor" {
			continue // its payload can't see its control group
		}
		if got := cpusInside(in.More); got != cpus || cpus == 0 {
			t.Errorf("%s: %v CPUs inside, of %v", in.Env, got, in.More)
		}
		had, _ := strconv.ParseInt(in.More["limit.memory.max"]+in.More["limit.memory.limit_in_bytes"], 10, 64)
		if memory > 0 && had != memory || memory == 0 && had > 0 && had < 1<<50 {
			t.Errorf("%s: %d bytes inside, want %d", in.Env, had, memory)
		}
		seen[engine]++
	}
	if seen["oci"] != 4 {
		t.Errorf("of the bare runtime %d of 4 environments were seen from inside (%v)", seen["oci"], seen)
	}
	if len(r.Run().Excluded) == 0 && seen["docker"] != 4 {
		t.Errorf("of docker %d of 4 environments were seen from inside", seen["docker"])
	}
	if code, said := p.run("factors", out); code != 0 || !strings.Contains(said, "cpu-limit") || !strings.Contains(said, "memory-limit") {
		t.Errorf("factors: status %d: %s", code, said)
	}
	if code, said := p.run("compare", out, "--env", "oci/crun/cpu-limit-0.5/memory-limit-none", "--env", "oci/crun/cpu-limit-1/memory-limit-none"); code != 0 {
		t.Errorf("compare: status %d: %s", code, said)
	}
}

// cpusInside is the quota over the period, of either version of control groups.
func cpusInside(more map[string]string) (cpus float64) {
	var quota, period float64
	if _, err := fmt.Sscan(more["limit.cpu.max"], &quota, &period); err != nil {
		_, _ = fmt.Sscan(more["limit.cpu.cfs_quota_us"]+" "+more["limit.cpu.cfs_period_us"], &quota, &period)
	}
	if period == 0 {
		return 0
	}
	return quota / period
}
