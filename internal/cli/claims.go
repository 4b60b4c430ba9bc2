//go:build linux

package cli

import (
	"slices"
	"strings"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/measure/study"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/findings"
)

// forClaims narrows a plan to what the claims need that the command line names, if
// it names any, and says which cells may be in further blocks.
func forClaims(p *study.Plan, ids []string) error {
	if len(ids) > 0 {
		claims, err := claimsNamed(p.Study.Claims, ids)
		if err != nil {
			return err
		}
		p.Only(claims, findings.Needs(claims, true, everywhere(p), p.Workloads))
	}
	if len(p.Protocol.ClaimLooks) == 0 {
		return nil
	}
	p.ForClaims(findings.Needs(p.Study.Claims, false, p.Environments, p.Workloads))
	if !slices.ContainsFunc(p.Cells, func(c study.Cell) bool { return c.Further }) {
		p.Protocol.Unlooked()
	}
	return nil
}

// everywhere are the environments of a plan, and those that can't run: a claim may
// need these too, and then says what it is without.
func everywhere(p *study.Plan) []record.Environment {
	out := slices.Clone(p.Environments)
	for _, x := range p.Excluded {
		if p.EngineOf(x.ID) == "" {
			out = append(out, record.Environment{ID: x.ID, Engine: x.Engine, Levels: x.Levels})
		}
	}
	return out
}

// claimsNamed are a study's claims of these ids, of which the part after the slash
// is enough.
func claimsNamed(all []record.Claim, ids []string) ([]record.Claim, error) {
	known := lists.Map(all, func(c record.Claim) string { return c.ID })
	if len(all) == 0 {
		return nil, withHint(fail(Usage, "--claim: this study has no claims"), "leave it out, or name a study that has some, such as that of a paper: plimsoll studies lists them")
	}
	var out []record.Claim
	for _, id := range ids {
		i := slices.IndexFunc(all, func(c record.Claim) bool {
			_, short, _ := strings.Cut(c.ID, "/")
			return c.ID == id || short == id
		})
		if i < 0 {
			return nil, chosen(&analyze.ChoiceError{What: "claim", Word: id, Known: known})
		}
		if len(all[i].Tests) == 0 {
			why := "it is about the feature table, which plimsoll features fills"
			if all[i].Needs != "" {
				why = "it needs " + all[i].Needs
			}
			return nil, fail(Usage, "--claim %s: nothing can be measured for it: %s", all[i].ID, why)
		}
		if !slices.ContainsFunc(out, func(c record.Claim) bool { return c.ID == all[i].ID }) {
			out = append(out, all[i])
		}
	}
	return out, nil
}
