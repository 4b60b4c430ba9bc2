package cli

import (
	"encoding/json"
	"slices"

	"plimsoll/internal/common/safepath"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/gate"
)

// addNoise puts the noise floors of a self-test's file into a run's record; ""
// is no file.
func addNoise(r *record.Run, path string) error {
	if path == "" {
		return nil
	}
	found, err := readSelfTest(path)
	if err != nil {
		return err
	}
	r.Noise = slices.DeleteFunc(r.Noise, func(n record.Noise) bool { return n.From == record.NoiseSelfTest })
	for _, n := range found.Noise {
		r.Noise = append(r.Noise, record.Noise{From: record.NoiseSelfTest, Env: n.Env, Metric: "startup", Relative: n.Relative, Blocks: n.Blocks})
	}
	return nil
}

// selfTest is what is read here of the result of a self-test.
type selfTest struct {
	Noise []struct {
		Env      string  `json:"env"`
		Relative float64 `json:"relative"`
		Blocks   int     `json:"blocks"`
	} `json:"noise"`
}

// mostOfSelfTest bounds the result of a self-test, in bytes; one has some 10 kB.
const mostOfSelfTest = 4 << 20

// readSelfTest reads the result of a self-test that has a noise floor.
func readSelfTest(path string) (*selfTest, error) {
	data, err := safepath.ReadGiven(path, mostOfSelfTest, "the result of a self-test")
	if err != nil {
		return nil, fail(Usage, "reading the noise floor: %w", err)
	}
	var r selfTest
	if err := json.Unmarshal(data, &r); err != nil || len(r.Noise) == 0 {
		return nil, withHint(fail(Usage, "%s is not the result of a self-test with a noise floor", path), "make one with plimsoll selftest --format json")
	}
	return &r, nil
}

// recordTwins writes into a run that has ended, and into its analysis, what the
// environments that it has twice tell of the noise. The run may belong to the
// trusted users, by number.
func recordTwins(dir string, res *analyze.Result, trusted ...int) error {
	if !gate.HasTwins(res.Environments) {
		return nil
	}
	if err := record.SetNoise(dir, record.NoiseTwins, gate.Noise(res), trusted...); err != nil {
		return err
	}
	r, err := record.Open(dir)
	if err != nil {
		return err
	}
	res.Run.Noise = r.Run().Noise
	return nil
}
