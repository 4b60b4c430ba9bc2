package cli

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/understand/analyze/factors"
	"plimsoll/internal/understand/analyze/sample"
)

// The truth of a directory that is written by hand: the natural logarithm by
// which a level multiplies a write, and what vfs and runc do together beyond that.
var (
	storageEffect = map[string]float64{"overlay": 0, "btrfs": 0.2, "vfs": 0.6}
	runtimeEffect = map[string]float64{"crun": 0, "runc": 0.15}
)

const (
	togetherEffect = 0.3
	writeNoise     = 0.1
	writeBlocks    = 12
)

func writeLog(storage, runtime string) float64 {
	v := storageEffect[storage] + runtimeEffect[runtime]
	if storage == "vfs" && runtime == "runc" {
		v += togetherEffect
	}
	return v
}

// TestFactorsOfFiles: a directory of which the test writes each byte, with
// known effects and a known interaction, comes back with them.
func TestFactorsOfFiles(t *testing.T) {
	truth := writeShares()
	hits, all := 0, 0
	for seed := range uint64(20) {
		dir := writtenByHand(t, seed)
		status, out, errs := drive("factors", dir, "--format", "json")
		var got struct{ Factors []factors.Factors }
		if err := json.Unmarshal([]byte(out), &got); status != 0 || err != nil || len(got.Factors) != 1 {
			t.Fatalf("status %d, %v: %s", status, err, errs)
		}
		check := func(name string, e *sample.Estimate) {
			all++
			if want := truth[name]; e != nil && e.Lo != nil && *e.Lo <= want && want <= *e.Hi {
				hits++
			} else {
				t.Logf("seed %d: %s is %.4f, estimated as %+v", seed, name, want, e)
			}
		}
		f := &got.Factors[0]
		for _, s := range f.Shares {
			name := s.Factor
			if s.With != "" {
				name = "runtime × storage"
			}
			check(name, s.Share)
		}
		check("noise", f.Noise)
	}
	if t.Logf("%d of %d true shares lie in their intervals: %v", hits, all, truth); all != 80 || float64(hits) < 0.92*float64(all) {
		t.Errorf("%d of %d true shares lie in their intervals", hits, all)
	}
	_, out, _ := drive("factors", writtenByHand(t, 1))
	for _, want := range []string{"The storage driver explains 83 % [78, 88] of the variance in the time of write.", "The runtime and the storage driver together, beyond each alone, explain"} {
		if !strings.Contains(out, want) {
			t.Errorf("no sentence %q in\n%s", want, out)
		}
	}
}

// writeShares are the true shares: sums of squares of the effects, and of the
// noise, over the sum of all, as of one block whose mean is taken out.
func writeShares() map[string]float64 {
	mean, byStorage, byRuntime := 0.0, map[string]float64{}, map[string]float64{}
	for s := range storageEffect {
		for r := range runtimeEffect {
			v := writeLog(s, r)
			mean += v / 6
			byStorage[s] += v / 2
			byRuntime[r] += v / 3
		}
	}
	sum := map[string]float64{"noise": writeNoise * writeNoise * 5}
	for s := range storageEffect {
		for r := range runtimeEffect {
			a, b := byStorage[s]-mean, byRuntime[r]-mean
			rest := writeLog(s, r) - mean - a - b
			sum["storage"] += a * a
			sum["runtime"] += b * b
			sum["runtime × storage"] += rest * rest
		}
	}
	total := 0.0
	for _, v := range sum {
		total += v
	}
	for k := range sum {
		sum[k] /= total
	}
	return sum
}

// writtenByHand writes run.json and trials.jsonl as docs/records.md has them.
func writtenByHand(t *testing.T, seed uint64) string {
	t.Helper()
	dir, r := t.TempDir(), rand.New(rand.NewPCG(seed, 5))
	var envs, trials []string
	for _, s := range []string{"overlay", "btrfs", "vfs"} {
		for _, rt := range []string{"crun", "runc"} {
			envs = append(envs, fmt.Sprintf(`{"id":"docker/%s/%s","engine":"docker","levels":{"storage":%q,"runtime":%q}}`, s, rt, s, rt))
		}
	}
	for b := range writeBlocks {
		shared := 0.1 * r.NormFloat64()
		for _, s := range []string{"overlay", "btrfs", "vfs"} {
			for _, rt := range []string{"crun", "runc"} {
				v := 5e6 * math.Exp(writeLog(s, rt)+shared+writeNoise*r.NormFloat64())
				trials = append(trials, fmt.Sprintf(`{"seq":%d,"block":%d,"env":"docker/%s/%s","workload":"write","values":{"time":%.0f}}`+"\n", len(trials), b, s, rt, v))
			}
		}
	}
	run := fmt.Sprintf(`{"format":1,"id":"byhand","status":"done","study":{"name":"write"},"protocol":{"blocks":%d,"warmup":0,"per_block":1,"seed":1,"order":"random","cache":"warm","trial_limit_ns":10000000000,"delta":0.01},
"host":{},"environments":[%s],
"workloads":[{"id":"write","name":"write","title":"write","metrics":[{"id":"time","unit":"ns","better":"lower","title":"time","what":"until all is on the disk"}]}]}`, writeBlocks, strings.Join(envs, ",\n"))
	for name, text := range map[string]string{"run.json": run, "trials.jsonl": strings.Join(trials, "")} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	return dir
}
