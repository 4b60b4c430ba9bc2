//go:build linux

package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"plimsoll/internal/common/harmless"
	"plimsoll/internal/measure/run"
	"plimsoll/internal/understand/words"
)

func cleanCommand(w World) *cobra.Command {
	format := "text"
	images, wait, byInterface := false, false, false
	var of []string
	far := farCleaning{}
	c := &cobra.Command{
		Use:   "clean",
		Short: "Remove whatever a killed run left behind",
		Long: `Removes the containers, images, mounts, cgroups and processes that a killed run
left on this machine: only what the run's ledger names, and of that only what
carries the run's label. What can't be reached (an engine that is not running, a
program no longer on PATH) stays in the ledger; the output says what would help, and
the exit status is 1.
The records stay, and can still be resumed.

If several machines or containers share the state directory, only the host of a run can
see whether it is still going: clean up there. If that host is gone, or has another name
now, say so by --of-host NAME.

--on ssh://HOST,… removes what runs left on other hosts: only folders whose ledger
names their run, whose run has ended, and whose record was fetched.`,
		Example: "  plimsoll clean\n  plimsoll clean --portable\n  plimsoll clean --images\n  plimsoll clean --on ssh://root@node1",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if byInterface {
				return cleanPortable(cmd, w, format)
			}
			if here, err := far.here(cmd); err != nil {
				return err
			} else if !here {
				return far.clean(cmd.Context(), w)
			}
			s, err := newSetting(w)
			if err != nil {
				return err
			}
			o := s.options()
			o.Wait = wait
			done, err := run.Clean(cmd.Context(), o, images, of...)
			if done != nil {
				if format == "json" {
					if err := printJSON[*run.Cleaned](w.Stdout, done); err != nil {
						return err
					}
				} else {
					printCleaned(w, done, err)
				}
			}
			if err == nil && len(done.Kept) > 0 {
				err = fmt.Errorf("%s could not be removed: see above; plimsoll clean tries again", words.Plural(len(done.Kept), "thing"))
			}
			return failing(err)
		},
	}
	formatFlag(c, &format, "text", "json")
	portableFlag(c, &byInterface, "remove what runs with --portable have left behind, on whatever machine their engine is")
	waitFlag(c, &wait)
	far.add(c)
	c.Flags().StringSliceVar(&of, "of-host", nil, "clean up after runs of this host too, which no longer exists or has a new name")
	completes(c, "of-host", cobra.NoFileCompletions)
	c.Flags().BoolVar(&images, "images", false, "remove the converted images too (the next run makes them again)")
	return c
}

// printCleaned prints what was removed and what was not. After an error it does not say
// that nothing was left.
func printCleaned(w World, c *run.Cleaned, failed error) {
	for _, r := range c.Removed {
		fmt.Fprintln(w.Stdout, "removed", harmless.Text(r))
	}
	for _, k := range c.Kept {
		fmt.Fprintf(w.Stdout, "kept %s of run %s: %s\n", harmless.Text(k.String()), k.Run, harmless.Text(k.Why))
		if k.Fix != "" {
			fmt.Fprintln(w.Stdout, "  try:", harmless.Text(k.Fix))
		}
	}
	for i := range c.Elsewhere {
		o := &c.Elsewhere[i]
		fmt.Fprintf(w.Stdout, "left run %s alone: %s has begun it, and whether that goes on can't be seen from here\n", o.RunID, harmless.Text(o.Process()))
		fmt.Fprintln(w.Stdout, "  try: plimsoll clean on that host, or in that container; where it no longer exists: plimsoll clean --of-host", harmless.ShellWord(o.Host))
	}
	for _, o := range c.Others {
		fmt.Fprintln(w.Stdout, "left a run of another user alone:", harmless.Text(o))
		fmt.Fprintln(w.Stdout, "  try: plimsoll clean as that user, with the same state directory")
	}
	for _, l := range c.LeftOn {
		fmt.Fprintln(w.Stdout, "left on:", harmless.Text(l))
	}
	for _, l := range c.LeftAlone {
		fmt.Fprintln(w.Stdout, "left alone:", harmless.Text(l))
	}
	for _, name := range c.Claims {
		fmt.Fprintf(w.Stdout, "left %s alone: a run may be beginning there, on another host or in another container; plimsoll clean removes it when it is a day old\n", harmless.Text(name))
	}
	switch {
	case len(c.Runs) > 0:
		fmt.Fprintf(w.Stdout, "%s removed, left by %s that had been cut off (state directory %s)\n", words.Plural(len(c.Removed), "thing"), words.Plural(len(c.Runs), "run"), harmless.Text(c.State))
	case len(c.Removed) > 0:
		fmt.Fprintf(w.Stdout, "%s removed\n", words.Plural(len(c.Removed), "thing"))
	case failed != nil, len(c.Kept)+len(c.LeftOn)+len(c.Elsewhere)+len(c.Others)+len(c.Claims) > 0:
	default:
		fmt.Fprintf(w.Stdout, "Nothing was left behind (state directory %s).\n", harmless.Text(c.State))
	}
}
