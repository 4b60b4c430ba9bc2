// Package releases finds out with which releases of a program something changed, from
// one run that measured all of them in the same blocks.
//
// It is opinionated: what is looked for is a change of level along the order of the
// releases, not which two of them differ; the blocks say what is chance, since they
// are what was repeated; and a step that is smaller than what one and the same program
// shows as two files is none.
//
// Why it is so: docs/decisions/builds.md.
package releases

import (
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze/compare"
	"plimsoll/internal/understand/analyze/sample"
)

// schema is the version of Releases as JSON.
const schema = 1

// Threshold is the smallest step that is marked where nothing else is said: copies of
// one and the same runc came out up to 3.4 % apart.
const Threshold = 0.05

// Releases is what came of a run of many builds of one program.
type Releases struct {
	Schema  int    `json:"schema"`
	Program string `json:"program"`
	Run     string `json:"run"`
	// Blocks is how many counted.
	Blocks int `json:"blocks"`
	// Threshold is the smallest relative step that is marked, Alpha the chance of a
	// false one in all series together (by Correction), Permutations their number,
	// from Seed.
	Threshold    float64 `json:"threshold"`
	Method       string  `json:"method"`
	Correction   string  `json:"correction"`
	Alpha        float64 `json:"alpha"`
	Permutations int     `json:"permutations"`
	Seed         uint64  `json:"seed"`
	// Releases are the builds in the order in which the user named them.
	Releases []Release `json:"releases"`
	Series   []Series  `json:"series"`
	Steps    []Step    `json:"steps"`
}

// Release is a build of the program.
type Release struct {
	Name    string `json:"name"` // the level of the factor build
	Version string `json:"version"`
	SHA256  string `json:"sha256"`
	Bytes   int64  `json:"bytes"` // the size of the file
}

// Series is a metric over the releases: one of a workload in an environment, or the
// size of the program itself.
type Series struct {
	// Workload and Env are empty of the size. Env is the environment's name without
	// the build.
	Workload string        `json:"workload,omitempty"`
	Env      string        `json:"env,omitempty"`
	Metric   record.Metric `json:"metric"`
	// Points has an entry for each release.
	Points []Point `json:"points"`
	// Levels are the stretches of releases between the steps.
	Levels []Level `json:"levels"`

	logs [][]float64 // by block and release, NaN where there is none
}

// Point is the median of a series at one release, with its 95 % interval, or the
// reason why there is none.
type Point struct {
	*sample.Estimate
	Missing string `json:"missing,omitempty"`
}

// Level is a stretch of releases without a step: First and Last are indices of
// Releases.Releases, Value the geometric mean of the medians.
type Level struct {
	First int     `json:"first"`
	Last  int     `json:"last"`
	Value float64 `json:"value"`
}

// Step is a change of level at a release.
type Step struct {
	// Series is the index in Releases.Series.
	Series int `json:"series"`
	// Before is the last release of the old level that has a value, After the first
	// of the new one: indices of Releases.Releases.
	Before int `json:"before"`
	After  int `json:"after"`
	// Ratio is the new level over the old one, with its 95 % interval by blocks.
	Ratio     sample.Estimate   `json:"ratio"`
	Direction compare.Direction `json:"direction"` // Better or Worse
	// P is corrected for all series. It is 0 of a size, which is no matter of chance.
	P float64 `json:"p"`
	// Most is the part of a duration that changed most from Before to After, of those
	// that surely did, and By how much longer it takes, in the metric's unit.
	Most string   `json:"most,omitempty"`
	By   *float64 `json:"by,omitempty"`
}

// Size is the metric of the program's size.
var Size = record.Metric{ID: "size", Unit: "bytes", Better: record.LowerIsBetter, Title: "program", What: "the size of the program's file"}

// StepAt gives the step of a series at a release, nil where there is none.
func (r *Releases) StepAt(series, release int) *Step {
	for i := range r.Steps {
		if s := &r.Steps[i]; s.Series == series && s.After == release {
			return s
		}
	}
	return nil
}
