package record

// Part is a part of a study with a matrix of its own: its workloads run in its
// environments. All parts make one plan, and are interleaved.
type Part struct {
	Name  string `json:"name"`
	Title string `json:"title,omitempty"`
	// Blocks is in how many counted blocks, the first ones, the part's cells
	// occur; 0 is in all.
	Blocks int `json:"blocks,omitempty"`
	// Unwarmed: the blocks to warm up are without it.
	Unwarmed bool `json:"unwarmed,omitempty"`
	// Environments and Workloads are ids. Environments that were left out stand
	// in Run.Excluded.
	Environments []string `json:"environments,omitempty"`
	Workloads    []string `json:"workloads,omitempty"`
	// Skipped says why this scale of the study leaves the part out.
	Skipped string `json:"skipped,omitempty"`
}
