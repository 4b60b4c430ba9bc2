package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/export"
	"plimsoll/internal/understand/words"
)

func exportCommand(w World) *cobra.Command {
	format, output, partitioned, opts := "csv", "", false, export.Options{}
	c := &cobra.Command{
		Use:   "export DIR...",
		Short: "Write a run, or many, for other programs",
		Long: `Writes every value of a run as a table (csv, json, parquet), or in a format that
other programs read: Go's benchmark format for benchstat, hyperfine's JSON,
OpenMetrics text, a LaTeX table. docs/exports.md describes each.

--partitioned writes many runs, or a folder of them, into a folder that DuckDB and
Spark read as one table: a Parquet file a run, by study, host and date. A run that is
there already is replaced. docs/queries.md has queries.`,
		Example: `  plimsoll export plimsoll-run-1 -o values.csv
  plimsoll export plimsoll-run-1 --format parquet -o values.parquet
  plimsoll export results/ --format parquet --partitioned -o lake
  plimsoll export plimsoll-run-1 --format benchfmt -o run.txt
  plimsoll export plimsoll-run-1 --format hyperfine --metric startup -o run.json`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: completeFolders,
		RunE: func(_ *cobra.Command, args []string) error {
			if partitioned {
				return exportPartitioned(w, args, format, output, opts)
			}
			if len(args) > 1 {
				return withHint(fail(Usage, "%d runs are given, and one is written", len(args)), "--format parquet --partitioned -o FOLDER writes many")
			}
			if output == "" && export.Binary(format) && w.Width() > 0 {
				return withHint(fail(Usage, "%s can't go to a terminal", format), "write it to a file: -o FILE")
			}
			r, err := openRun(args[0])
			if err != nil {
				return err
			}
			err = writeTo(w, output, func(out io.Writer) error { return export.Write(out, format, r, opts) })
			if err != nil {
				return chosen(fmt.Errorf("exporting %s as %s: %w", args[0], format, err))
			}
			return nil
		},
	}
	formatFlag(c, &format, export.Formats()...)
	rawFlag(c, &opts.CSV, export.Formats())
	c.Flags().StringVar(&opts.Metric, "metric", "", "write only this metric (hyperfine: by default the first duration in the report)")
	completesMetrics(c)
	c.Flags().StringVarP(&output, "output", "o", "", "write to this file instead of standard output; with --partitioned, the folder")
	c.Flags().BoolVar(&partitioned, "partitioned", false, "write runs, or folders of runs, into a folder by study, host and date (with --format parquet and -o)")
	completesPaths(c, nil, "output")
	return c
}

// exportPartitioned writes each run into its place below a folder, one after the other.
func exportPartitioned(w World, args []string, format, folder string, opts export.Options) error {
	if format != "parquet" || folder == "" {
		return withHint(fail(Usage, "--partitioned writes Parquet files into a folder"), "plimsoll export %s --format parquet --partitioned -o lake", args[0])
	}
	runs, _, err := record.Find(args)
	if err != nil {
		return withHint(fail(Failed, "%w", err), "give the directories of runs, or a folder that holds them")
	}
	for _, dir := range runs {
		r, err := openRun(dir)
		if err != nil {
			return err
		}
		path := filepath.Join(folder, filepath.FromSlash(export.Partition(r.Run())))
		if err = os.MkdirAll(filepath.Dir(path), 0o755); err == nil { //nolint:gosec // what a report says is no secret
			err = writeTo(w, path, func(out io.Writer) error { return export.WritePartition(out, r, opts) })
		}
		if err != nil {
			return chosen(fmt.Errorf("exporting %s as parquet: %w", dir, err))
		}
	}
	fmt.Fprintf(w.Stderr, "%s in %s, by study, host and date.\n", words.Plural(len(runs), "run"), shortPath(folder))
	return nil
}
