package study

import (
	"plimsoll/internal/common/yamlfile"
	"plimsoll/internal/record"
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
	MaxBlocks int
	// Parts are the study's matrices; one that names no parts has one without a
	// name.
	Parts  []Part
	Common map[string]string // level by factor
	// Limits are the limits of all environments, as levels by factor: of several
	// each environment is had with each. A limit that is not there is the protocol's.
	Limits    map[string][]string
	Baselines []string
	Exclude   []Rule
	// Published is what a paper says of the same matrix, or nil.
	Published *Published
	Metrics   []string
	Sort      string
	// Tables set published tables beside the study's numbers.
	Tables []record.PaperTable
	// Scale is the name of the size that this is; empty is the full one.
	Scale string
	// OnlyParts are those that were asked for, where not all were (Only).
	OnlyParts []string
	// Scales are the study's other sizes, each as it would be read.
	Scales []*Study
	// Claims are the sentences that it tests.
	Claims []record.Claim
	// Images are those that were bound to others (Bind).
	Images map[string]string

	own []WorkloadInfo // the workloads of files

	at yamlfile.Pos // of the environments, for what is found only when planning
}

// Part is a matrix: its workloads run in its environments.
type Part struct {
	Name, Title  string
	Workloads    []Workload
	Environments []Entry
	// Blocks is in how many counted blocks its trials occur; 0 is in all.
	Blocks int
	// Unwarmed: the blocks to warm up are without it.
	Unwarmed bool
	// Skipped is why this scale leaves the part out.
	Skipped string
	// Limits are levels by factor, instead of the study's.
	Limits map[string][]string
}

// Full is the scale that a study is at without one.
const Full = "full"

// At gives the study at a scale; the empty name is the full one, and so is Full
// where no scale has that name.
func (s *Study) At(scale string) (*Study, error) {
	if scale == "" {
		return s, nil
	}
	var names []string
	for _, t := range s.Scales {
		if t.Scale == scale {
			return t, nil
		}
		names = append(names, t.Scale)
	}
	if scale == Full {
		return s, nil
	}
	p := &yamlfile.Problems{}
	if len(names) == 0 {
		p.Add(yamlfile.Pos{Path: s.at.Path}, "the study has no scale "+yamlfile.Quote(scale), "none: it has only one size")
	} else {
		p.Unknown(yamlfile.Pos{Path: s.at.Path}, "scale", scale, names)
	}
	return nil, p.Err()
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
	// Ablate, where given, are the mechanisms that are taken away, singly, one after
	// the other and in combinations, or added; AllMechanisms for all that the engine
	// has, AllAdditions for what it can also do.
	Ablate []string

	at yamlfile.Pos
}

// Axis is a factor or a parameter with the levels that are named.
type Axis struct {
	Name   string
	Levels []string
}
