package record

import (
	"errors"
	"slices"
)

// The sources of a noise floor.
const (
	NoiseTwins    = "twins"     // the run has an environment twice
	NoiseSelfTest = "self-test" // what a self-test found on the machine
)

// Noise is a noise floor: how far apart an environment comes out from itself.
type Noise struct {
	From string `json:"from"`
	// Env is the environment, With the same one under its other name; of a
	// self-test Env is what that was made with.
	Env      string `json:"env"`
	With     string `json:"with,omitempty"`
	Workload string `json:"workload,omitempty"`
	Metric   string `json:"metric"`
	// Relative is the largest difference that is noise, 0.02 for 2 %.
	Relative float64 `json:"relative"`
	Blocks   int     `json:"blocks"`
}

// SetNoise writes the noise floors of one source into the run in dir, which has
// ended, in place of those that it has of it. trusted is as in Resume.
func SetNoise(dir, from string, noise []Noise, trusted ...int) error {
	w, run, err := Resume(dir, trusted...)
	if err != nil {
		return err
	}
	run.Noise = append(slices.DeleteFunc(run.Noise, func(n Noise) bool { return n.From == from }), noise...)
	return errors.Join(w.Update(run), w.Close())
}
