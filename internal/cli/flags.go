package cli

import (
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll/internal/analyze"
	"plimsoll/internal/report"
	"plimsoll/internal/yamlfile"
)

// choice is a flag that takes one of a few words.
type choice struct {
	value *string
	words []string
}

func (c choice) String() string {
	if c.value == nil {
		return ""
	}
	return *c.value
}

func (c choice) Type() string { return strings.Join(c.words, "|") }

func (c choice) Set(s string) error {
	if !slices.Contains(c.words, s) {
		return fail(Usage, "it can be %s", strings.Join(c.words, ", "))
	}
	*c.value = s
	return nil
}

// formatFlag adds --format, with its completion.
func formatFlag(c *cobra.Command, value *string, words ...string) {
	choiceFlag(c, value, "format", "how to print the result", words...)
}

// choiceFlag adds a flag that takes one of a few words.
func choiceFlag(c *cobra.Command, value *string, name, usage string, words ...string) {
	c.Flags().Var(choice{value, words}, name, usage)
	_ = c.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)) // it fails only for a flag that is not there
}

// output is where and how a command prints its result.
type output struct {
	format, path string
	ascii        bool
}

// add adds the flags but --format, whose words differ.
func (o *output) add(c *cobra.Command) {
	c.Flags().StringVarP(&o.path, "output", "o", "", "write to this file instead of standard output")
	c.Flags().BoolVar(&o.ascii, "ascii", false, "no characters beyond ASCII")
}

// write opens what the result goes to and renders it there.
func (o *output) write(w World, render func(io.Writer, report.Options) error) error {
	opts := report.Options{ASCII: o.ascii, Width: width(w), Color: color(w)}
	if o.path == "" {
		return render(w.Stdout, opts)
	}
	file, err := os.Create(o.path)
	if err != nil {
		return fail(Failed, "opening the output: %w", err)
	}
	opts.Color, opts.Width = false, 0
	if err := errors.Join(render(file, opts), file.Close()); err != nil {
		return fail(Failed, "writing the output: %w", err)
	}
	return nil
}

// filters reads the values of --filter.
func filters(values []string) (out []analyze.Filter, err error) {
	for _, s := range values {
		one, err := analyze.ParseFilter(s)
		if err != nil {
			return nil, fail(Usage, "--%w", err)
		}
		out = append(out, one)
	}
	return out, nil
}

// choiceError makes an error about usage of a word that the runs do not have;
// nil where err is about something else.
func choiceError(err error) error {
	var choice *analyze.ChoiceError
	if !errors.As(err, &choice) {
		return nil
	}
	e := fail(Usage, "%w", err)
	if near := yamlfile.Nearest(choice.Word, choice.Known); near != "" {
		return withHint(e, "did you mean %q?", near)
	}
	return e
}
