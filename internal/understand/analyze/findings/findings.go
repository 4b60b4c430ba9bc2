// Package findings tests the claims that a study carries against runs.
//
// Why it is so: docs/decisions/findings.md.
package findings

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
)

// ClaimsOf gives the claims that the runs' studies carry, each once. A remark
// says where two runs carry different claims of one name; the first counts. What is
// known by now to differ from the paper is told as the last run has it.
func ClaimsOf(runs []*analyze.Result) ([]record.Claim, []record.Remark) {
	var out []record.Claim
	remarks := []record.Remark{}
	for _, r := range runs {
		for _, c := range r.Claims {
			i := slices.IndexFunc(out, func(o record.Claim) bool { return o.ID == c.ID })
			switch {
			case i < 0:
				out = append(out, c)
			case sameClaim(out[i], c):
				out[i] = c
			default:
				remarks = append(remarks, record.Remark{Code: "claims-differ", Level: "warn",
					Text:   fmt.Sprintf("Run %s carries another %s than the runs before it: theirs count.", r.Run.ID, c.ID),
					Advice: "name the study whose claims you mean with --study"})
			}
		}
	}
	return out, remarks
}

// sameClaim says whether two claims demand the same of the same.
func sameClaim(a, b record.Claim) bool {
	a.StandIns, a.Differs, b.StandIns, b.Differs = nil, nil, nil, nil
	return reflect.DeepEqual(a, b)
}

// Judge tests claims against runs. Each pair is of one run, since only there
// it has blocks in common, and of the newest that has it; a claim is tested by
// the pairs of all. features may be nil.
func Judge(runs []*analyze.Result, claims []record.Claim, features *record.Features) *analyze.Findings {
	out := &analyze.Findings{Schema: analyze.FindingsSchema, Runs: []analyze.FindingsRun{}, Claims: []analyze.Finding{}, Remarks: []record.Remark{}}
	for _, r := range runs {
		out.Runs = append(out.Runs, analyze.FindingsRun{ID: r.Run.ID, Study: r.Run.Study, Status: r.Run.Status, Started: r.Run.Started, Blocks: r.Run.Blocks, Machine: analyze.MachineOf(r.Run.Host)})
		for _, from := range slices.Sorted(maps.Keys(r.Run.Bound)) {
			out.Remarks = append(out.Remarks, record.Remark{Code: "images-bound", Level: "info",
				Text:   fmt.Sprintf("Run %s had the image %s in place of %s.", r.Run.ID, r.Run.Bound[from], from),
				Advice: "run it with the study's own image"})
		}
		if r.Run.Protocol.SmallSizes {
			out.Remarks = append(out.Remarks, record.Remark{Code: "small-sizes", Level: "info",
				Text:   fmt.Sprintf("Run %s ran its workloads at their small levels, at which a study's claims may not hold.", r.Run.ID),
				Advice: "run the full study"})
		}
	}
	for i := range claims {
		out.Claims = append(out.Claims, judgeClaim(meant(runs, &claims[i]), &claims[i], features))
	}
	return out
}

// meant are the runs that count for a claim. One that was made for other claims of
// its study (run --claim) may have pairs of this one too, in as many blocks as
// those needed: where a run was made for it, these count for nothing.
func meant(runs []*analyze.Result, c *record.Claim) []*analyze.Result {
	has := func(r *analyze.Result) bool {
		return slices.ContainsFunc(r.Claims, func(x record.Claim) bool { return x.ID == c.ID })
	}
	if !slices.ContainsFunc(runs, has) {
		return runs
	}
	of, _, _ := strings.Cut(c.ID, "/")
	return lists.Filter(runs, func(r *analyze.Result) bool {
		return has(r) || !slices.ContainsFunc(r.Claims, func(x record.Claim) bool { return strings.HasPrefix(x.ID, of+"/") })
	})
}

func judgeClaim(runs []*analyze.Result, c *record.Claim, features *record.Features) analyze.Finding {
	f, _ := judged(runs, c, features)
	return f
}

// judged is what came of a claim, and the pairs that its verdict rests on.
func judged(runs []*analyze.Result, c *record.Claim, features *record.Features) (analyze.Finding, []pair) {
	f := analyze.Finding{ID: c.ID, Says: c.Says, Why: c.Why, Published: publishedOf(c.Published)}
	var pairs []pair
	for k := range c.Tests {
		of, lacks := pairsOf(runs, &c.Tests[k])
		for i := range of {
			of[i].Test = k + 1
		}
		pairs, f.Partly = append(pairs, of...), f.Partly || len(of) == 0
		f.Without = analyze.Also(f.Without, lacks...)
	}
	if c.Features != "" {
		f.Features = featureClaim(c.Features, features)
		if f.Features.Tried > 0 && len(f.Features.Untried) > 0 {
			f.Without = analyze.Also(f.Without, analyze.ClaimLack{What: strings.Join(f.Features.Untried, ", "), Reason: "none of its features was tried"})
		}
	}
	pairs, f.Older = newest(runs, pairs)
	own, others, used := split(runs, c, pairs)
	f.Test = judgePairs(own)
	f.Pairs = claimPairs(own)
	if len(runs) > 1 {
		f.Runs = runsOf(own)
	}
	f.Verdict, f.Decides = verdictOf(own)
	f.Differs = differing(runs, c, own)
	f.Instead, f.Partly = substitute(others, used), f.Partly || len(others) > 0
	f.Partly = f.Partly && f.Verdict != analyze.ClaimNotTested
	f.Reason = reasonOf(&f)
	if f.Instead != nil && f.Verdict == analyze.ClaimNotTested {
		f.Reason = neededBy(f.Instead)
	}
	f.Without = analyze.Also(f.Without, lacksOfStandIns(used)...)
	if f.Features != nil && len(c.Tests) == 0 {
		f.Verdict, f.Reason = featureVerdict(f.Features, features)
		f.Differs = differingEngines(c, f.Features)
		f.Partly = f.Verdict != analyze.ClaimNotTested && f.Features.Tried < f.Features.Cells
	}
	if c.Needs != "" {
		if f.Verdict == analyze.ClaimNotTested && len(c.Tests) == 0 {
			f.Reason = "Needs " + c.Needs + "."
		}
		f.Partly = f.Partly || f.Verdict != analyze.ClaimNotTested
		f.Without = analyze.Also(f.Without, analyze.ClaimLack{What: "the rest", Reason: "needs " + c.Needs})
	}
	for i := range c.Answers {
		f.Answers = append(f.Answers, judgeAnswer(runs, &c.Answers[i]))
	}
	return f, own
}

func judgeAnswer(runs []*analyze.Result, a *record.ClaimAnswer) analyze.Answer {
	pairs, lacks := pairsOf(runs, &a.Test)
	pairs, _ = newest(runs, pairs)
	judgePairs(pairs)
	out := analyze.Answer{Pairs: claimPairs(pairs), Without: analyze.Also(nil, lacks...)}
	out.Verdict, out.Decides = verdictOf(pairs)
	switch {
	case out.Verdict == analyze.ClaimSupported:
		out.Text = a.Supported
	case out.Verdict == analyze.ClaimContradicted && a.Contradicted != "":
		out.Text = a.Contradicted
	case out.Verdict == analyze.ClaimContradicted:
		out.Text = "This does not hold: " + a.Supported
	case out.Verdict == analyze.ClaimInconclusive:
		out.Text = "Not decided by this run: " + a.Supported
	default:
		out.Text = "Not tested: " + a.Supported
		if out.Failed = failedOf(runs, &a.Test); out.Failed == "" {
			out.Command = a.Command
		}
	}
	return out
}
