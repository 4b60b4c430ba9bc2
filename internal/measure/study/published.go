package study

// Published is what a paper says of a matrix, and what this plan makes of the
// same one. The baselines that a plan adds are not counted.
type Published struct {
	Source string `json:"source"`
	// Combinations and Valid are the paper's.
	Combinations int `json:"combinations"`
	Valid        int `json:"valid"`
	// Difference says why ours differ, where they do.
	Difference string `json:"difference,omitempty"`
	// Part is the part of the study that is the same matrix; empty is all of it.
	Part string `json:"part,omitempty"`
	// OurCombinations is how many combinations the study asks for, OurValid
	// how many of them no rule forbids, had here or not.
	OurCombinations int `json:"our_combinations"`
	OurValid        int `json:"our_valid"`
}

// beside sets a plan's own counts beside the published ones.
func (p *Published) beside(asked, possible int) *Published {
	if p == nil {
		return nil
	}
	out := *p
	out.OurCombinations, out.OurValid = asked, possible
	return &out
}
