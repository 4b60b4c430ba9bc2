package cli

import (
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll/internal/measure/study"
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
	completes(c, name, completeWords(words...))
}

// natural is a flag that takes a whole number from 1 on, and is 0 where it is not given.
type natural struct{ value *int }

func (n natural) String() string {
	if n.value == nil {
		return "0"
	}
	return strconv.Itoa(*n.value)
}

func (natural) Type() string { return "int" }

func (n natural) Set(s string) error {
	v, err := strconv.ParseInt(s, 0, 32)
	switch {
	case err != nil:
		return err
	case v < 1:
		return fail(Usage, "it must be at least 1")
	}
	*n.value = int(v)
	return nil
}

// completeStudies completes the name of a bundled study, or a file.
func completeStudies(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return study.Names(), cobra.ShellCompDirectiveDefault
}
