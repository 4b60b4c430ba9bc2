package analyze

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/record"
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
	// Partly: one of its tests formed no pair, so that the verdict is of the
	// others only.
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
	// Without are what the claim names and what was not measured.
	Without []ClaimLack `json:"without,omitempty"`
	// Answers are to Why.
	Answers  []Answer      `json:"answers,omitempty"`
	Features *FeatureClaim `json:"features,omitempty"`
	// Published are the study's own numbers. Nothing is computed with them.
	Published []PublishedNumber `json:"published,omitempty"`
}

// Answer is what came of a test that says why.
type Answer struct {
	Verdict ClaimVerdict `json:"verdict"`
	// Text is what holds, or why nothing can be said.
	Text    string      `json:"text"`
	Decides *ClaimPair  `json:"decides,omitempty"`
	Pairs   []ClaimPair `json:"pairs,omitempty"`
	Without []ClaimLack `json:"without,omitempty"`
}

// ClaimPair is one comparison: A over B, or A alone.
type ClaimPair struct {
	Test int        `json:"test"` // which of the claim's tests, from 1
	Run  string     `json:"run"`
	A    ClaimSide  `json:"a"`
	B    *ClaimSide `json:"b,omitempty"`
	// Estimate is the ratio over blocks, or the value in Unit; it is missing
	// where there is none.
	Estimate *Estimate `json:"estimate,omitempty"`
	Unit     string    `json:"unit,omitempty"`
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

	sample sample
	bounds bounds
	fixed  bool    // each side is one number in all of 6 blocks or more: a count or a size
	clear  float64 // how far inside or outside, on the scale of sample
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
	if i := strings.IndexAny(s, ":;"); i > 0 {
		return s[:i]
	}
	return s
}

// ClaimsOf gives the claims that the runs' studies carry, each once. A remark
// says where two runs carry different claims of one name; the first counts.
func ClaimsOf(runs []*Result) ([]record.Claim, []record.Remark) {
	var out []record.Claim
	remarks := []record.Remark{}
	for _, r := range runs {
		for _, c := range r.Claims {
			i := slices.IndexFunc(out, func(o record.Claim) bool { return o.ID == c.ID })
			switch {
			case i < 0:
				out = append(out, c)
			case !reflect.DeepEqual(out[i], c):
				remarks = append(remarks, record.Remark{Code: "claims-differ", Level: "warn",
					Text:   fmt.Sprintf("Run %s carries another %s than the runs before it: those count.", r.Run.ID, c.ID),
					Advice: "give the study whose claims are meant with --study"})
			}
		}
	}
	return out, remarks
}

// Judge tests claims against runs. Each pair is of one run, since only there
// it has blocks in common; a claim is tested by the pairs of all. features may
// be nil.
func Judge(runs []*Result, claims []record.Claim, features *record.Features) *Findings {
	out := &Findings{Schema: FindingsSchema, Runs: []FindingsRun{}, Claims: []Finding{}, Remarks: []record.Remark{}}
	for _, r := range runs {
		out.Runs = append(out.Runs, FindingsRun{ID: r.Run.ID, Study: r.Run.Study, Status: r.Run.Status, Started: r.Run.Started, Blocks: r.Run.Blocks, Machine: machineOf(r.Run.Host)})
		if r.Run.Protocol.SmallSizes {
			out.Remarks = append(out.Remarks, record.Remark{Code: "small-sizes", Level: "info",
				Text:   fmt.Sprintf("Run %s ran its workloads at their small levels, at which a study's claims may not hold.", r.Run.ID),
				Advice: "run the full study"})
		}
	}
	for i := range claims {
		out.Claims = append(out.Claims, judgeClaim(runs, &claims[i], features))
	}
	return out
}

func judgeClaim(runs []*Result, c *record.Claim, features *record.Features) Finding {
	f := Finding{ID: c.ID, Says: c.Says, Why: c.Why, Pairs: []ClaimPair{}, Published: publishedOf(c.Published)}
	for k := range c.Tests {
		pairs, lacks := pairsOf(runs, &c.Tests[k])
		for i := range pairs {
			pairs[i].Test = k + 1
		}
		f.Pairs, f.Partly = append(f.Pairs, pairs...), f.Partly || len(pairs) == 0
		f.Without = addLacks(f.Without, lacks)
	}
	if c.Features != "" {
		f.Features = featureClaim(c.Features, features)
		if f.Features.Tried > 0 && len(f.Features.Untried) > 0 {
			f.Without = addLacks(f.Without, []ClaimLack{{What: strings.Join(f.Features.Untried, ", "), Reason: "none of its features was tried"}})
		}
	}
	f.Test = judgePairs(f.Pairs)
	f.Verdict, f.Decides = verdictOf(f.Pairs)
	f.Partly = f.Partly && f.Verdict != ClaimNotTested
	f.Reason = reasonOf(&f)
	if f.Features != nil && len(c.Tests) == 0 {
		f.Verdict, f.Reason = f.Features.verdict()
	}
	if c.Needs != "" {
		if f.Verdict == ClaimNotTested && len(c.Tests) == 0 {
			f.Reason = "Needs " + c.Needs + "."
		}
		f.Partly = f.Partly || f.Verdict != ClaimNotTested
		f.Without = addLacks(f.Without, []ClaimLack{{What: "the rest", Reason: "needs " + c.Needs}})
	}
	for i := range c.Answers {
		f.Answers = append(f.Answers, judgeAnswer(runs, &c.Answers[i]))
	}
	return f
}

func judgeAnswer(runs []*Result, a *record.ClaimAnswer) Answer {
	pairs, lacks := pairsOf(runs, &a.Test)
	judgePairs(pairs)
	out := Answer{Pairs: pairs, Without: addLacks(nil, lacks)}
	out.Verdict, out.Decides = verdictOf(pairs)
	switch {
	case out.Verdict == ClaimSupported:
		out.Text = a.Supported
	case out.Verdict == ClaimContradicted && a.Contradicted != "":
		out.Text = a.Contradicted
	case out.Verdict == ClaimContradicted:
		out.Text = "This does not hold: " + a.Supported
	case out.Verdict == ClaimInconclusive:
		out.Text = "Not decided by this run: " + a.Supported
	default:
		out.Text = "Not tested: " + a.Supported
	}
	return out
}

// addLacks adds what is not there yet.
func addLacks(have, more []ClaimLack) []ClaimLack {
	for _, l := range more {
		if !slices.Contains(have, l) {
			have = append(have, l)
		}
	}
	return have
}

// Count says how many claims came to a verdict.
func (f *Findings) Count(v ClaimVerdict) int {
	n := 0
	for i := range f.Claims {
		if f.Claims[i].Verdict == v {
			n++
		}
	}
	return n
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
