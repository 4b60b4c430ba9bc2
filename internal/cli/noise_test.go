package cli

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
)

// What a self-test found goes into a run's record in place of an older one, and
// what is no result of one is refused.
func TestAddNoise(t *testing.T) {
	write := func(text string) string {
		path := filepath.Join(t.TempDir(), "noise.json")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		return path
	}
	r := &record.Run{Noise: []record.Noise{{From: record.NoiseTwins, Env: "a"}, {From: record.NoiseSelfTest, Env: "old"}}}
	require.NoError(t, addNoise(r, write(`{"noise": [{"env": "stopwatch", "relative": 0.01, "blocks": 10}, {"env": "crun", "relative": 0.03, "blocks": 10}]}`)))
	want := []record.Noise{{From: record.NoiseTwins, Env: "a"},
		{From: record.NoiseSelfTest, Env: "stopwatch", Metric: "startup", Relative: 0.01, Blocks: 10},
		{From: record.NoiseSelfTest, Env: "crun", Metric: "startup", Relative: 0.03, Blocks: 10}}
	if len(r.Noise) != 3 || r.Noise[0] != want[0] || r.Noise[1] != want[1] || r.Noise[2] != want[2] {
		t.Errorf("%+v", r.Noise)
	}
	if err := addNoise(r, ""); err != nil || len(r.Noise) != 3 {
		t.Errorf("%v %+v", err, r.Noise)
	}
	for _, path := range []string{"nowhere.json", write("{}"), write("no JSON")} {
		if err := addNoise(r, path); err == nil {
			t.Errorf("%s is taken", path)
		}
	}
}

// A run that has ended records what its twins tell; one without them is left
// as it is.
func TestRecordTwins(t *testing.T) {
	spec := recordtest.Typical()
	spec.Envs = spec.Envs[1:5]
	for _, twins := range []bool{false, true} {
		if twins {
			twin := spec.Envs[3]
			twin.ID += "@b"
			spec.Envs = append(spec.Envs, twin)
		}
		dir := spec.Write(t)
		before, err := os.ReadFile(filepath.Join(dir, record.RunFile))
		require.NoError(t, err)
		res, err := readResult(dir)
		require.NoError(t, err)
		require.NoError(t, recordTwins(dir, res))
		r, err := record.Open(dir)
		require.NoError(t, err)
		after, _ := os.ReadFile(filepath.Join(dir, record.RunFile))
		if (len(r.Run().Noise) > 0) != twins || !twins && string(before) != string(after) {
			t.Errorf("twins %v: %+v", twins, r.Run().Noise)
		}
		if !slices.Equal(res.Run.Noise, r.Run().Noise) {
			t.Errorf("twins %v: the analysis has %+v, the record %+v", twins, res.Run.Noise, r.Run().Noise)
		}
	}
}
