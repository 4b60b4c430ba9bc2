package cli

import (
	"io"

	"github.com/spf13/cobra"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/findings"
	"plimsoll/internal/understand/report"
)

// findingsFlags are whose claims are tested, and how that is printed.
type findingsFlags struct {
	printing
	study, features, claim string
}

func findingsCommand(w World) *cobra.Command {
	f := findingsFlags{printing: printing{format: "text"}}
	c := &cobra.Command{
		Use:   "findings DIR...",
		Short: "Test which of a study's claims hold here, our number beside the published one",
		Long: `Tests a study's claims against what was measured. A claim is supported if the
whole interval of every pair lies in the range that it states, contradicted if
that of any pair lies outside, inconclusive if one crosses a bound, or not tested,
with what is missing. You can give several directories; each pair is taken within
one of them.`,
		Example: `  plimsoll findings plimsoll-run-1
  plimsoll findings plimsoll-run-1 --claim 6a
  plimsoll findings part-1 part-2 --study baresi2024
  plimsoll findings plimsoll-run-1 --study ./my-claims.yaml --format json`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, dirs []string) error {
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
	fl.StringVar(&f.claim, "claim", "", "only this claim, with all of its pairs")
	_ = c.RegisterFlagCompletionFunc("study", completeStudies) // it fails only for a flag that is not there
	return c
}

func (f *findingsFlags) judge(w World, dirs []string) (*analyze.Findings, error) {
	var runs []*analyze.Result
	var features *record.Features
	for _, dir := range dirs {
		res, err := readResult(dir)
		if err != nil {
			return nil, err
		}
		runs = append(runs, res)
		if features == nil {
			features = res.Features
		}
	}
	if f.features != "" {
		var err error
		if features, err = record.ReadFeatures(f.features); err != nil {
			return nil, withHint(fail(Usage, "%w", err), "make one by plimsoll features -o FILE")
		}
	}
	claims, remarks := findings.ClaimsOf(runs)
	if f.study != "" {
		var err error
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
	return found, nil
}

func (f *findingsFlags) print(w World, found *analyze.Findings) error {
	err := f.show(w, func(out io.Writer, o report.Options) error {
		return report.WriteFindings(out, f.format, found, f.claim, o)
	})
	if err != nil {
		return chosen(err)
	}
	return nil
}
