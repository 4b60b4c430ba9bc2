package analyze

import (
	"strings"
	"time"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze/sample"
)

// FindingsSchema is the version of Findings as JSON.
const FindingsSchema = 1

// ClaimVerdict is one of four answers to whether a claim holds here.
type ClaimVerdict string

// The four answers. Of a pair: its whole interval lies inside the range that
// the claim states, wholly outside (and Holm's correction over the claim's
// pairs leaves no chance for chance), or neither. Of a claim: contradicted when
// any of its pairs is, else inconclusive when any is, else supported.
const (
	ClaimSupported    ClaimVerdict = "supported"
	ClaimContradicted ClaimVerdict = "contradicted"
	ClaimInconclusive ClaimVerdict = "inconclusive"
	ClaimNotTested    ClaimVerdict = "not-tested"
)

// ClaimVerdicts are in the order in which a summary counts them.
var ClaimVerdicts = []ClaimVerdict{ClaimSupported, ClaimContradicted, ClaimInconclusive, ClaimNotTested}

// Findings says which claims hold in some runs.
type Findings struct {
	Schema  int             `json:"schema"`
	Runs    []FindingsRun   `json:"runs"`
	Claims  []Finding       `json:"claims"`
	Remarks []record.Remark `json:"remarks"`
}

// FindingsRun is a run that was looked at.
type FindingsRun struct {
	ID      string    `json:"id"`
	Study   string    `json:"study"`
	Status  string    `json:"status"`
	Started time.Time `json:"started"`
	Blocks  int       `json:"blocks"`
	Machine string    `json:"machine"`
}

// Finding is what came of one claim.
type Finding struct {
	ID      string       `json:"id"`
	Says    string       `json:"says"`
	Why     string       `json:"why,omitempty"`
	Verdict ClaimVerdict `json:"verdict"`
	// Partly: one of its tests formed no pair, or pairs of a stand-in, or one of its
	// cells was not tried, so that the verdict is of the others only.
	Partly bool `json:"partly,omitempty"`
	// Reason is a sentence that says what the verdict rests on.
	Reason string `json:"reason"`
	// Decides is the pair that the verdict hangs on: of a contradicted claim
	// the clearest of those that contradict it, of a supported one the least
	// clear.
	Decides *ClaimPair  `json:"decides,omitempty"`
	Pairs   []ClaimPair `json:"pairs"`
	// Test names the test behind Holm.
	Test string `json:"test,omitempty"`
	// Runs are those of Pairs, where several runs were looked at, and Older those
	// of which a newer run has the same pairs.
	Runs  []string `json:"runs,omitempty"`
	Older []string `json:"older,omitempty"`
	// Without are what the claim names and what was not measured.
	Without []ClaimLack `json:"without,omitempty"`
	// Instead is what was measured by another program, mechanism or topology
	// than the study's. Nothing of it is in the verdict.
	Instead *Substitute `json:"instead,omitempty"`
	// Differs are what else the study had otherwise than Pairs, which count all
	// the same: an engine's successor, another instrument or client.
	Differs []record.StandIn `json:"differs,omitempty"`
	// Answers are to Why.
	Answers  []Answer      `json:"answers,omitempty"`
	Features *FeatureClaim `json:"features,omitempty"`
	// Published are the study's own numbers. Nothing is computed with them.
	Published []PublishedNumber `json:"published,omitempty"`
}

// Substitute is what came of the tests of a claim by what stands in.
type Substitute struct {
	StandIns []record.StandIn `json:"stand_ins"`
	// Verdict is what the claim's would be, were these the study's own.
	Verdict ClaimVerdict `json:"verdict"`
	Reason  string       `json:"reason"`
	Decides *ClaimPair   `json:"decides,omitempty"`
	Pairs   []ClaimPair  `json:"pairs"`
	Test    string       `json:"test,omitempty"`
}

// Answer is what came of a test that says why.
type Answer struct {
	Verdict ClaimVerdict `json:"verdict"`
	// Text is what holds, or why nothing can be said.
	Text    string      `json:"text"`
	Decides *ClaimPair  `json:"decides,omitempty"`
	Pairs   []ClaimPair `json:"pairs,omitempty"`
	Without []ClaimLack `json:"without,omitempty"`
	// Failed says of what every trial failed that it asks for: to measure it again
	// would not help. Command measures what it lacks, where the study says how.
	Failed  string `json:"failed,omitempty"`
	Command string `json:"command,omitempty"`
}

// ClaimPair is one comparison: A over B, or A alone.
type ClaimPair struct {
	Test int        `json:"test"` // which of the claim's tests, from 1
	Run  string     `json:"run"`
	A    ClaimSide  `json:"a"`
	B    *ClaimSide `json:"b,omitempty"`
	// Estimate is the ratio over blocks, or in Unit the value, or A less B where
	// a 0 has no ratio; it is missing where there is none.
	Estimate *sample.Estimate `json:"estimate,omitempty"`
	Unit     string           `json:"unit,omitempty"`
	// Level is that of the interval and of the test where the run was looked at more
	// than once; 0 stands for 0.95.
	Level float64 `json:"level,omitempty"`
	// Range is what the claim states, as the study has it.
	Range  string `json:"range"`
	Blocks int    `json:"blocks"`
	Method string `json:"method,omitempty"`
	// Holm is the one-sided p that the truth lies in the range all the same,
	// corrected over the claim's pairs.
	Holm    *float64     `json:"holm,omitempty"`
	Verdict ClaimVerdict `json:"verdict"`
	Reason  string       `json:"reason"`
	// BlocksNeeded is about how many blocks would decide it; 0: no number of
	// practical use, or it is decided.
	BlocksNeeded int `json:"blocks_needed,omitempty"`
	// Also names the properties in which A and B differ beyond the factors by
	// which they are named.
	Also []string `json:"also,omitempty"`
}

// ClaimSide is a cell.
type ClaimSide struct {
	Env      string `json:"env"`
	Engine   string `json:"engine"`
	Workload string `json:"workload"`
	Metric   string `json:"metric"`
}

// ClaimLack is what a claim names and what there is no number of.
type ClaimLack struct {
	What   string `json:"what"`
	Reason string `json:"reason"`
	Fix    string `json:"fix,omitempty"`
}

// Brief is the reason without what an engine said besides.
func (l ClaimLack) Brief() string {
	const long = 60
	s := strings.TrimSuffix(l.Reason, ".")
	if len(s) <= long {
		return s
	}
	for _, end := range []string{": ", "; "} { // a colon alone may be an image's
		s, _, _ = strings.Cut(s, end)
	}
	return s
}

// Count says how many claims came to a verdict.
func (f *Findings) Count(v ClaimVerdict) int {
	return lists.Count(f.Claims, func(c Finding) bool { return c.Verdict == v })
}

// Claim finds a claim by its id, or by what stands behind the slash where that
// is one claim's only.
func (f *Findings) Claim(id string) (*Finding, error) {
	var found *Finding
	var known []string
	n := 0
	for i := range f.Claims {
		c := &f.Claims[i]
		if c.ID == id {
			return c, nil
		}
		if _, short, _ := strings.Cut(c.ID, "/"); short == id {
			found = c
			n++
		}
		known = append(known, c.ID)
	}
	if n == 1 {
		return found, nil
	}
	return nil, &ChoiceError{What: "claim", Word: id, Known: known}
}

// FeatureClaim compares a group of the published feature table with one that
// was filled by trying, cell by cell.
type FeatureClaim struct {
	Group string `json:"group"`
	// Cells is how many the group has, Tried how many of them were tried here and
	// tell something of the published value, and Equal how many of those came out
	// as published.
	Cells int `json:"cells"`
	Tried int `json:"tried"`
	Equal int `json:"equal"`
	// Engines are those of the cells in Tried.
	Engines []string `json:"engines,omitempty"`
	// Differ are the others that were tried.
	Differ []FeatureDifference `json:"differ,omitempty"`
	// Undecided are cells of which this machine shows a part at most, for want of
	// what Lacking says. They are in no verdict, and not among Tried.
	Undecided []FeatureDifference `json:"undecided,omitempty"`
	// Untried are the engines of which no cell was tried.
	Untried []string `json:"untried,omitempty"`
}

// FeatureDifference is a cell that is not as published.
type FeatureDifference struct {
	Feature   string `json:"feature"`
	Engine    string `json:"engine"`
	Here      string `json:"here"`
	Published string `json:"published"`
	Why       string `json:"why,omitempty"`
	// Lacking is what this machine lacks to decide the cell, as a clause.
	Lacking string `json:"lacking,omitempty"`
}

// PublishedNumber is what a study published, in its own words and units.
type PublishedNumber struct {
	record.PublishedValue
	Value *float64 `json:"value,omitempty"`
	Unit  string   `json:"unit,omitempty"`
}

// Title names the pair: A over B, or A, and what of it.
func (p *ClaimPair) Title() string {
	if p.B == nil || p.A.Env == p.B.Env {
		return p.A.Env + ", " + p.Subject()
	}
	return p.A.Env + " over " + p.B.Env + ", " + p.Subject()
}

// Subject names what is compared: one metric of one workload, or two.
func (p *ClaimPair) Subject() string {
	side := func(s *ClaimSide) string { return s.Metric + " of " + s.Workload }
	switch {
	case p.B == nil || p.A.Workload == p.B.Workload && p.A.Metric == p.B.Metric:
		return side(&p.A)
	case p.A.Workload == p.B.Workload:
		return p.A.Metric + " over " + side(p.B)
	}
	return side(&p.A) + " over " + side(p.B)
}

// claimEngine and claimDefault are words of the claims: the engine beside the
// factors, and what was left to it.
const (
	ClaimEngine  = "engine"
	ClaimDefault = "default"
)
