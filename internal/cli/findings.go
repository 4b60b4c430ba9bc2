package cli

import (
	"cmp"
	"io"

	"github.com/spf13/cobra"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/findings"
	"plimsoll/internal/understand/analyze/hosts"
	"plimsoll/internal/understand/report"
)

// findingsFlags are whose claims are tested, and how that is printed.
type findingsFlags struct {
	printing
	study, features string
	claims          []string
	hosts           hostFlags
}

func findingsCommand(w World) *cobra.Command {
	f := findingsFlags{printing: printing{format: "text"}}
	c := &cobra.Command{
		Use:   "findings DIR...",
		Short: "Test which of a study's claims hold here, our number next to the published one",
		Long: `Tests a study's claims against what was measured. A claim is supported if the
whole interval of every pair lies in the range that it states, contradicted if
that of any pair lies outside, inconclusive if one crosses a bound, or not tested,
with what is missing. You can give several directories; each pair is taken within
one of them. Runs of several hosts, or a folder of them, are judged host by host: on
which of them a claim holds.`,
		Example: `  plimsoll findings plimsoll-run-1
  plimsoll findings plimsoll-run-1 --claim 6a
  plimsoll findings plimsoll-run-1 --claim 6a,6b,6c
  plimsoll findings part-1 part-2 --study baresi2024
  plimsoll findings results/
  plimsoll findings plimsoll-run-1 --study ./my-claims.yaml --format json`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: completeFolders,
		RunE: func(_ *cobra.Command, dirs []string) error {
			all, err := f.hosts.byHost(dirs)
			if err != nil {
				return err
			}
			if all != nil {
				return f.onHosts(w, all)
			}
			found, err := f.judge(w, dirs)
			if err != nil {
				return err
			}
			return f.print(w, found)
		},
	}
	f.add(c, report.FindingFormats()...)
	fl := c.Flags()
	fl.StringVar(&f.study, "study", "", "test the claims of this study, or of a file of claims, instead of those that the runs carry")
	fl.StringVar(&f.features, "features", "", "a feature table from plimsoll features (default: features.json in a DIR)")
	fl.StringSliceVar(&f.claims, "claim", nil, "only these claims, such as 6a or baresi2024/6a,9b; one alone with all of its pairs")
	f.hosts.addBy(c)
	completes(c, "study", completeStudies)
	completes(c, "claim", fromRuns(claimsOfRun))
	completesPaths(c, []string{"json"}, "features")
	return c
}

func (f *findingsFlags) judge(w World, dirs []string) (*analyze.Findings, error) {
	runs, err := lists.Try(dirs, readResult)
	if err != nil {
		return nil, err
	}
	var features *record.Features
	for _, res := range runs {
		features = cmp.Or(features, res.Features)
	}
	if f.features != "" {
		if features, err = record.ReadFeatures(f.features); err != nil {
			return nil, withHint(fail(Usage, "%w", err), "make one by plimsoll features -o FILE")
		}
	}
	claims, remarks := findings.ClaimsOf(runs)
	if f.study != "" {
		if claims, err = claimsOf(w, f.study); err != nil {
			return nil, err
		}
		remarks = nil
	}
	if len(claims) == 0 {
		return nil, withHint(fail(Usage, "the study of run %s carries no claims: there is nothing to test", runs[0].Run.ID), "name the study whose claims you mean, such as --study baresi2024")
	}
	found := findings.Judge(runs, claims, features)
	found.Remarks = append(remarks, found.Remarks...)
	if len(f.claims) == 0 {
		return found, nil
	}
	found.Claims, err = lists.Try(f.claims, func(id string) (analyze.Finding, error) {
		c, err := found.Claim(id)
		if err != nil {
			return analyze.Finding{}, chosen(err)
		}
		return *c, nil
	})
	return found, err
}

// onHosts judges each host by its own runs, and says where claims hold.
func (f *findingsFlags) onHosts(w World, all []hostRuns) error {
	if err := ofOneMachine(f.features, "findings", all); err != nil {
		return err
	}
	var found []hosts.HostFindings
	for _, h := range all {
		one, err := f.judge(w, h.dirs)
		if err != nil {
			return err
		}
		found = append(found, hosts.HostFindings{Label: h.label, Findings: one})
	}
	return tell(w, &f.printing, report.HostClaims, hosts.ClaimsOf(found))
}

func (f *findingsFlags) print(w World, found *analyze.Findings) error {
	one := ""
	if len(f.claims) == 1 {
		one = f.claims[0]
	}
	err := f.show(w, func(out io.Writer, o report.Options) error {
		return report.WriteFindings(out, f.format, found, one, o)
	})
	if err != nil {
		return chosen(err)
	}
	return nil
}
