package cli

import (
	"errors"
	"fmt"
	"regexp"
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

// The complaints of the library that reads command lines.
var (
	unknownFlag  = regexp.MustCompile(`^unknown flag: --(.*)$`)
	unknownShort = regexp.MustCompile(`^unknown shorthand flag: '(.)' in (.*)$`)
	lacksValue   = regexp.MustCompile(`^flag needs an argument: (?:'.' in )?(-.*)$`)
	badValue     = regexp.MustCompile(`^invalid argument (".*") for "(.*)" flag: (.*)$`)
	tooMany      = regexp.MustCompile(`^accepts at most (\d+) arg\(s\), received (\d+)$`)
	betweenTwo   = regexp.MustCompile(`^accepts between (\d+) and (\d+) arg\(s\), received (\d+)$`)
	wrongNumber  = regexp.MustCompile(`^accepts (\d+) arg\(s\), received (\d+)$`)
	tooFew       = regexp.MustCompile(`^requires at least (\d+) arg\(s\), only received (\d+)$`)
	noneTaken    = regexp.MustCompile(`^unknown command "(.*)" for "(.*)"$`)
	notParsed    = regexp.MustCompile(`^strconv\.Parse\w+: parsing ".*": (.*)$|^time: (.*)$|^parse error on line.*$`)
)

// flagSlip says in our words what is wrong with a flag.
func flagSlip(cmd *cobra.Command, err error) error {
	see := cmd.CommandPath() + " --help shows what it takes"
	text := err.Error()
	if m := unknownFlag.FindStringSubmatch(text); m != nil {
		var known []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				known = append(known, "--"+f.Name)
			}
		})
		return didYouMean(fail(Usage, "%s has no option --%s", cmd.CommandPath(), m[1]), "--"+m[1], known, "%s", see)
	}
	if m := unknownShort.FindStringSubmatch(text); m != nil {
		return withHint(fail(Usage, "%s has no option -%s", cmd.CommandPath(), m[1]), "%s", see)
	}
	if m := lacksValue.FindStringSubmatch(text); m != nil {
		return withHint(fail(Usage, "%s needs a value", m[1]), "%s", see)
	}
	if m := badValue.FindStringSubmatch(text); m != nil {
		name, why := m[2], m[3]
		if notParsed.MatchString(why) {
			why = "expected " + kindOfValue(cmd, name)
		}
		return withHint(fail(Usage, "%s is %s: %s", name, m[1], why), "%s", see)
	}
	return withHint(fail(Usage, "%w", err), "%s", see)
}

// kindOfValue says what a flag takes.
func kindOfValue(cmd *cobra.Command, name string) string {
	parts := strings.Split(name, "--")
	f := cmd.Flags().Lookup(parts[len(parts)-1])
	if f == nil {
		return "another value"
	}
	switch t := f.Value.Type(); {
	case strings.HasPrefix(t, "int"), strings.HasPrefix(t, "uint"):
		return "a whole number"
	case strings.HasPrefix(t, "float"):
		return "a number"
	case t == "duration":
		return "a time such as 90s, 10m or 2h"
	case t == "bool":
		return "true or false"
	}
	return "another value"
}

// argumentSlip says in our words what is wrong with the arguments.
func argumentSlip(cmd *cobra.Command, args []string, err error) error {
	var told *exitError
	if errors.As(err, &told) && told.hint != "" {
		return err // it is in our words
	}
	see := cmd.CommandPath() + " --help shows what it takes"
	text := err.Error()
	given := strings.Join(args, " ")
	arguments := func(n string) string {
		switch n {
		case "0":
			return "no argument"
		case "1":
			return "one argument"
		}
		return n + " arguments"
	}
	if m := noneTaken.FindStringSubmatch(text); m != nil {
		if cmd.HasAvailableSubCommands() {
			var known []string
			for _, c := range cmd.Commands() {
				if c.IsAvailableCommand() {
					known = append(known, c.Name())
				}
			}
			return didYouMean(fail(Usage, "%s has no command %q", cmd.CommandPath(), m[1]), m[1], known, "%s", see)
		}
		return withHint(fail(Usage, "%s takes no argument, and %s is given", cmd.CommandPath(), given), "%s", see)
	}
	if m := tooMany.FindStringSubmatch(text); m != nil {
		return withHint(fail(Usage, "%s takes at most %s, and %s are given: %s", cmd.CommandPath(), arguments(m[1]), m[2], given), "%s", see)
	}
	if form := strings.TrimSuffix(cmd.UseLine(), " [flags]"); form != cmd.CommandPath() { // it says what the arguments are
		see = form + "; --help shows what else it takes"
	}
	if m := betweenTwo.FindStringSubmatch(text); m != nil {
		return withHint(fail(Usage, "%s takes %s to %s, and %s", cmd.CommandPath(), m[1], arguments(m[2]), count(m[3], given)), "%s", see)
	}
	if m := wrongNumber.FindStringSubmatch(text); m != nil {
		return withHint(fail(Usage, "%s takes %s, and %s", cmd.CommandPath(), arguments(m[1]), count(m[2], given)), "%s", see)
	}
	if m := tooFew.FindStringSubmatch(text); m != nil {
		return withHint(fail(Usage, "%s takes at least %s, and %s", cmd.CommandPath(), arguments(m[1]), count(m[2], given)), "%s", see)
	}
	return withHint(fail(Usage, "%w", err), "%s", see)
}

// count says how many arguments are given.
func count(n, given string) string {
	switch n {
	case "0":
		return "none is given"
	case "1":
		return "one is given: " + given
	}
	return fmt.Sprintf("%s are given: %s", n, given)
}
