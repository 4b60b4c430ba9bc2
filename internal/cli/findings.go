package cli

import (
	"errors"
	"io"
	"os"

	"github.com/spf13/cobra"

	"plimsoll/internal/analyze"
	"plimsoll/internal/record"
	"plimsoll/internal/report"
	"plimsoll/internal/yamlfile"
)

// findingsFlags are whose claims are tested, and how that is printed.
type findingsFlags struct {
	study, features, claim string
	format, output         string
	ascii                  bool
}

func findingsCommand(w World) *cobra.Command {
	f := findingsFlags{format: "text"}
	c := &cobra.Command{
		Use:   "findings DIR...",
		Short: "Say which of a study's claims hold here, with our number beside the published one",
		Long: `Tests the claims that a study carries against what was measured: supported where
the whole interval of every pair lies in the range that the claim states,
contradicted where that of any lies outside, inconclusive where one reaches over a
bound, and not tested, with what is missing. Several directories are taken
together, each pair within one of them.`,
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
	formatFlag(c, &f.format, report.FindingFormats()...)
	fl := c.Flags()
	fl.StringVar(&f.study, "study", "", "test the claims of this study, or of a file of claims, instead of those that the runs carry")
	fl.StringVar(&f.features, "features", "", "a feature table from plimsoll features (default: features.json in a DIR)")
	fl.StringVar(&f.claim, "claim", "", "only this claim, with all of its pairs")
	fl.StringVarP(&f.output, "output", "o", "", "write to this file instead of standard output")
	fl.BoolVar(&f.ascii, "ascii", false, "no characters beyond ASCII")
	_ = c.RegisterFlagCompletionFunc("study", completeStudies) // it fails only for a flag that is not there
	return c
}

func (f *findingsFlags) judge(w World, dirs []string) (*analyze.Findings, error) {
	var runs []*analyze.Result
	var features *record.Features
	for _, dir := range dirs {
		r, err := record.Open(dir)
		if err != nil {
			return nil, fail(Failed, "%w", err)
		}
		res, err := analyze.Run(r, analyze.Options{})
		if err != nil {
			return nil, fail(Failed, "%w", err)
		}
		runs = append(runs, res)
		if features == nil {
			if features, err = r.Features(); err != nil {
				return nil, fail(Failed, "%w", err)
			}
		}
	}
	if f.features != "" {
		var err error
		if features, err = record.ReadFeatures(f.features); err != nil {
			return nil, withHint(fail(Usage, "%w", err), "make one by plimsoll features -o FILE")
		}
	}
	claims, remarks := analyze.ClaimsOf(runs)
	if f.study != "" {
		var err error
		if claims, err = claimsOf(w, f.study); err != nil {
			return nil, err
		}
		remarks = nil
	}
	if len(claims) == 0 {
		return nil, withHint(fail(Usage, "the study of run %s carries no claims: there is nothing to test", runs[0].Run.ID), "give the study whose claims are meant, such as --study baresi2024")
	}
	found := analyze.Judge(runs, claims, features)
	found.Remarks = append(remarks, found.Remarks...)
	return found, nil
}

func (f *findingsFlags) print(w World, found *analyze.Findings) error {
	opts := report.Options{ASCII: f.ascii, Width: width(w), Color: color(w)}
	var out io.Writer = w.Stdout
	if f.output != "" {
		file, err := os.Create(f.output)
		if err != nil {
			return fail(Failed, "opening the output: %w", err)
		}
		defer file.Close()
		opts.Color, opts.Width, out = false, 0, file
	}
	err := report.WriteFindings(out, f.format, found, f.claim, opts)
	var choice *analyze.ChoiceError
	if errors.As(err, &choice) {
		e := fail(Usage, "%w", err)
		if near := yamlfile.Nearest(choice.Word, choice.Known); near != "" {
			return withHint(e, "did you mean %q?", near)
		}
		return e
	}
	if err != nil {
		return fail(Failed, "writing the findings: %w", err)
	}
	return nil
}
