package study

import (
	"plimsoll/internal/record"
	"plimsoll/internal/yamlfile"
)

// Study is a study that was read and checked: every word in it is known.
type Study struct {
	Name, Title, Description string
	// Path and Source are where it was read from (empty for a bundled study,
	// which goes by its name) and the text of the file,
	// with the texts of those that it extends.
	Path, Source string
	// Protocol has every default filled in. Seed 0 stands for one to be drawn.
	Protocol record.Protocol
	// MaxBlocks is the study's own bound where the number of blocks is left
	// open; 0 is none.
	MaxBlocks    int
	Workloads    []Workload
	Common       map[string]string // level by factor
	Baselines    []string
	Environments []Entry
	Exclude      []Rule
	// Published is what a paper says of the same matrix, or nil.
	Published *Published
	Metrics   []string
	Sort      string
	// Claims are the sentences that it tests.
	Claims []record.Claim

	own []WorkloadInfo // the workloads of files

	at yamlfile.Pos // of the environments, for what is found only when planning
}

// Workload is a workload with the parameters that the study names.
type Workload struct {
	Name       string
	Parameters []Axis
}

// Entry is one entry of the environments: every combination of its engines
// and levels, each once for every name in As.
type Entry struct {
	Engines []string
	Factors []Axis
	As      []string

	at yamlfile.Pos
}

// Axis is a factor or a parameter with the levels that are named.
type Axis struct {
	Name   string
	Levels []string
}
