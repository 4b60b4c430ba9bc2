// Command manual makes what a release says of the command line: man pages and
// completions. It is apart from dist, which build.sh calls for the rest, because
// it holds the whole program, and the tests of dist are linked without.
package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"plimsoll/internal/cli"
	"plimsoll/internal/cli/manpages"
	"plimsoll/internal/dist/stamp"
)

const usage = `usage: manual man DIR               a man page for each command
       manual completions DIR       completions for bash, zsh, fish and PowerShell
stamped by VERSION and SOURCE_DATE_EPOCH`

func main() {
	if err := write(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "manual:", err)
		os.Exit(1)
	}
}

func write(args []string) error {
	root := func() *cobra.Command { return cli.Root(cli.World{}) }
	s, err := stamp.Read()
	switch {
	case len(args) != 2:
		return errors.New(usage)
	case err != nil:
		return err
	case args[0] == "man":
		return manpages.Pages(args[1], root(), s.Version, s.Time)
	case args[0] == "completions":
		return manpages.Completions(args[1], root)
	}
	return errors.New(usage)
}
