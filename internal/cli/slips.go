package cli

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"plimsoll/internal/common/yamlfile"
)

// didYouMean is what to do about a word that is not known: the nearest one that is,
// else where all are listed.
func didYouMean(err error, word string, known []string, format string, a ...any) error {
	if near := yamlfile.Nearest(word, known); near != "" {
		return withHint(err, "did you mean %s?", near)
	}
	return withHint(err, format, a...)
}

// flagSlip adds to the library's complaint about a flag what to do about it.
func flagSlip(cmd *cobra.Command, err error) error {
	word, known := "", []string(nil)
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() == "" {
		word = "--" + unknown.GetSpecifiedName()
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				known = append(known, "--"+f.Name)
			}
		})
	}
	return didYouMean(fail(Usage, "%w", err), word, known, "%s --help shows what it takes", cmd.CommandPath())
}

// argumentSlip adds to the library's complaint about arguments what to do about it.
func argumentSlip(cmd *cobra.Command, args []string, err error) error {
	var told *exitError
	if errors.As(err, &told) && told.hint != "" {
		return err // it is in our words
	}
	word, known := "", []string(nil)
	if len(args) > 0 {
		word = args[0]
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() {
				known = append(known, c.Name())
			}
		}
	}
	return didYouMean(fail(Usage, "%w", err), word, known, "%s; --help shows what it takes", strings.TrimSuffix(cmd.UseLine(), " [flags]"))
}
