package cli

import (
	"io"

	"github.com/spf13/cobra"

	"plimsoll/internal/understand/export"
)

func exportCommand(w World) *cobra.Command {
	format, output, opts := "csv", "", export.Options{}
	c := &cobra.Command{
		Use:   "export DIR",
		Short: "Write a run for other programs",
		Long: `Writes every value of a run as a table (csv, json, parquet), or in a format that
other programs read: Go's benchmark format for benchstat, hyperfine's JSON,
OpenMetrics text, a LaTeX table. docs/exports.md describes each.`,
		Example: `  plimsoll export plimsoll-run-1 -o values.csv
  plimsoll export plimsoll-run-1 --format parquet -o values.parquet
  plimsoll export plimsoll-run-1 --format benchfmt -o run.txt
  plimsoll export plimsoll-run-1 --format hyperfine --metric startup -o run.json`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if output == "" && export.Binary(format) && w.Width() > 0 {
				return withHint(fail(Usage, "%s can't go to a terminal", format), "write it to a file: -o FILE")
			}
			r, err := openRun(args[0])
			if err != nil {
				return err
			}
			err = writeTo(w, output, func(out io.Writer) error { return export.Write(out, format, r, opts) })
			if err != nil {
				return fail(Failed, "exporting %s as %s: %w", args[0], format, err)
			}
			return nil
		},
	}
	formatFlag(c, &format, export.Formats()...)
	c.Flags().StringVar(&opts.Metric, "metric", "", "write only this metric (hyperfine: by default the first duration in the report)")
	completesMetrics(c)
	c.Flags().StringVarP(&output, "output", "o", "", "write to this file instead of standard output")
	return c
}
