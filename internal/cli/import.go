package cli

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"plimsoll/internal/common/safepath"
	"plimsoll/internal/understand/importer"
)

func importCommand(w World) *cobra.Command {
	output := ""
	c := &cobra.Command{
		Use:   "import FILE... -o DIR",
		Short: "Turn what hyperfine or a Go benchmark measured into a run",
		Long: `Reads hyperfine's JSON or Go's benchmark format into a run's directory, so that
report and export work on it. The measurements were not interleaved, and nothing
is known of the machine beyond what the file names; the report points that out.`,
		Example: `  plimsoll import hyperfine.json -o imported
  plimsoll import old.txt new.txt -o imported
  plimsoll report imported`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, paths []string) error {
			if output == "" {
				return withHint(fail(Usage, "no directory is given for the run"), "name a new directory: -o DIR")
			}
			if err := takesRecord(output); err != nil {
				return err
			}
			var files []importer.File
			for _, path := range paths {
				f, err := readImport(path)
				if err != nil {
					return fail(Failed, "importing %s: %w", path, err)
				}
				files = append(files, f)
			}
			run, trials, err := importer.Import(files)
			if err != nil {
				return fail(Failed, "%w", err)
			}
			if err := importer.Write(output, run, trials); err != nil {
				return fail(Failed, "%w", err)
			}
			fmt.Fprintf(w.Stderr, "measurements: %d, environments: %d, workloads: %d; look at them with: plimsoll report %s\n",
				len(trials), len(run.Environments), len(run.Workloads), output)
			return nil
		},
	}
	c.Flags().StringVarP(&output, "output", "o", "", "the new directory of the run")
	completesFolders(c, "output")
	return c
}

// readImport reads a file, unless it is far too large for what it should be.
func readImport(path string) (importer.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return importer.File{}, err
	}
	data, err := safepath.ReadGiven(path, importer.MaxSize, "the result of hyperfine or of a Go benchmark, in parts if it is so large")
	if err != nil {
		return importer.File{}, err
	}
	return importer.File{Path: path, Data: data, Modified: info.ModTime()}, nil
}
