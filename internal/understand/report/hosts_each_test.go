package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/advise"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/analyzetest"
	"plimsoll/internal/understand/analyze/findings"
	"plimsoll/internal/understand/analyze/hosts"
)

// What is found on each of several hosts stands side by side, as the manual shows it.
func TestHostByHost(t *testing.T) {
	var found []hosts.HostFindings
	var advised []advise.HostAdvice
	use := advise.Profile{Name: "own", Title: "by weights of your own", Criteria: []advise.Criterion{{Workload: "hello", Metric: "startup", Weight: 1, Better: record.LowerIsBetter, Why: "asked for"}}}
	for _, s := range recordtest.Fleet(6, 12) {
		s.Claims = recordtest.FleetClaims()
		runs := []*analyze.Result{analyzetest.Run(t, s)}
		claims, _ := findings.ClaimsOf(runs)
		found = append(found, hosts.HostFindings{Label: s.Host.Name, Findings: findings.Judge(runs, claims, nil)})
		a, err := advise.Run(runs, nil, use, advise.Options{})
		if err != nil {
			t.Fatal(err)
		}
		advised = append(advised, advise.HostAdvice{Label: s.Host.Name, Advice: a})
	}
	// A host that lacks a claim, and one that does not rank an environment, are gaps.
	gap := *found[5].Findings
	gap.Claims = gap.Claims[:2]
	withGap := append(append([]hosts.HostFindings{}, found[:5]...), hosts.HostFindings{Label: "node6", Findings: &gap})
	if c := hosts.ClaimsOf(withGap).Claims[2]; c.NotTested != 1 || c.Tested() != 5 || c.Where != hosts.DependsOn {
		t.Errorf("%+v", c)
	}
	var text, md, advice bytes.Buffer
	if err := HostClaims.Write(&text, "text", hosts.ClaimsOf(found), Options{}); err != nil {
		t.Fatal(err)
	}
	isGolden(t, "findings-hosts.txt", text.String())
	if err := HostClaims.Write(&md, "markdown", hosts.ClaimsOf(found), Options{}); err != nil || !strings.Contains(md.String(), "| fleet/runc |") {
		t.Errorf("%v\n%s", err, md.String())
	}
	if err := HostAdvice.Write(&advice, "text", advise.Hosts(advised), Options{}); err != nil {
		t.Fatal(err)
	}
	isGolden(t, "advice-hosts.txt", advice.String())
	manual, err := os.ReadFile("../../../docs/advise.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(advice.String(), "\n\n")
	table, _, _ = strings.Cut(table, "\n\n")
	if !strings.Contains(string(manual), table) {
		t.Errorf("docs/advise.md does not show this:\n%s", table)
	}
}

// What is not as in the paper, and judged all the same, is told of several hosts as of
// one: in the text, in the table and in the data, with the hosts that have it where not
// all have.
func TestHostsNotAsInPaper(t *testing.T) {
	client := record.StandIn{Aspect: "client", Paper: "a command line", Here: "an API"}
	engine := record.StandIn{Aspect: "engine", Paper: "Singularity", Here: "Apptainer"}
	of := func(label string, v analyze.ClaimVerdict, differs ...record.StandIn) hosts.HostFindings {
		return hosts.HostFindings{Label: label, Findings: &analyze.Findings{Claims: []analyze.Finding{{ID: "paper/1", Says: "It holds.", Verdict: v, Differs: differs}}}}
	}
	c := hosts.ClaimsOf([]hosts.HostFindings{of("one", analyze.ClaimSupported, client, engine), of("two", analyze.ClaimSupported, client), of("three", analyze.ClaimNotTested, engine)})
	const want = "Not as in the paper, and judged all the same: client, an API (the paper: a command line); engine, Apptainer (the paper: Singularity), on one."
	written := map[string]string{}
	for _, format := range []string{"text", "markdown", "csv", "json"} {
		var out bytes.Buffer
		if err := HostClaims.Write(&out, format, c, Options{Width: 300}); err != nil {
			t.Fatal(err)
		}
		written[format] = out.String()
		if format != "json" && !strings.Contains(out.String(), want) {
			t.Errorf("%s:\n%s", format, out.String())
		}
	}
	rows, err := csv.NewReader(strings.NewReader(written["csv"])).ReadAll()
	if all, at := rows[len(rows)-1], slices.Index(rows[0], "differs"); err != nil || at < 0 || all[0] != "" || all[at] != want || all[len(all)-1] != "" {
		t.Errorf("%v, %v", rows, err)
	}
	var read struct {
		Claims []struct {
			Differs []struct {
				Paper string
				On    []string
			}
		}
	}
	if err := json.Unmarshal([]byte(written["json"]), &read); err != nil || len(read.Claims) != 1 || len(read.Claims[0].Differs) != 2 ||
		read.Claims[0].Differs[0].On != nil || !slices.Equal(read.Claims[0].Differs[1].On, []string{"one"}) || read.Claims[0].Differs[1].Paper != "Singularity" {
		t.Errorf("%+v, %v", read, err)
	}
}
