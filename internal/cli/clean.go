//go:build linux

package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"plimsoll/internal/run"
)

func cleanCommand(w World) *cobra.Command {
	format := "text"
	images, wait := false, false
	c := &cobra.Command{
		Use:   "clean",
		Short: "Remove whatever a run that was cut off left behind",
		Long: `Removes the containers, images, mounts, cgroups and processes that a run left on
this machine when it was killed: only what carries our label or the run's id.
The records stay, and can still be resumed.`,
		Example: "  plimsoll clean\n  plimsoll clean --images",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := newSetting(w)
			if err != nil {
				return err
			}
			o := s.options()
			o.Wait = wait
			done, err := run.Clean(cmd.Context(), o, images)
			if done != nil {
				if format == "json" {
					if err := printJSON(w.Stdout, done); err != nil {
						return err
					}
				} else {
					printCleaned(w, done)
				}
			}
			if err != nil {
				return fail(Failed, "%w", err)
			}
			return nil
		},
	}
	formatFlag(c, &format, "text", "json")
	c.Flags().BoolVar(&wait, "wait", false, "wait while another Plimsoll measures on this machine")
	c.Flags().BoolVar(&images, "images", false, "remove the converted images too (the next run makes them again)")
	return c
}

func printCleaned(w World, c *run.Cleaned) {
	for _, r := range c.Removed {
		fmt.Fprintln(w.Stdout, "removed", r)
	}
	switch {
	case len(c.Removed) > 0 || len(c.Runs) > 0:
		fmt.Fprintf(w.Stdout, "%d things removed, after %d runs that were cut off\n", len(c.Removed), len(c.Runs))
	default:
		fmt.Fprintln(w.Stdout, "Nothing of ours was left behind.")
	}
}
