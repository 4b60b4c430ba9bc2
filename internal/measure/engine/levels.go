package engine

import (
	"fmt"
	"slices"
	"strings"

	"plimsoll/internal/record"
)

// Known copies an adapter's table of its levels by factor: whoever asks for it
// may change what he got.
func Known(table map[string][]string) map[string][]string {
	known := make(map[string][]string, len(table))
	for factor, names := range table {
		known[factor] = slices.Clone(names)
	}
	return known
}

// AllUsable is a table of levels before anything was looked at: each can be
// had. A detection begins with it and takes away what this machine lacks.
func AllUsable(table map[string][]string) map[string][]Level {
	all := make(map[string][]Level, len(table))
	for factor, names := range table {
		for _, name := range names {
			all[factor] = append(all[factor], Level{Name: name, Usable: true})
		}
	}
	return all
}

// LevelsBy looks at each level of an adapter's table: a missing one has the reason
// of an error, and its advice.
func LevelsBy(table map[string][]string, look func(factor, level string) error) map[string][]Level {
	return LevelsUnless(table, func(factor, level string) (reason, fix string) {
		if err := look(factor, level); err != nil {
			return Reason(err)
		}
		return "", ""
	})
}

// LevelsUnless is LevelsBy where why gives the reason itself, "" where there is none.
func LevelsUnless(table map[string][]string, why func(factor, level string) (reason, fix string)) map[string][]Level {
	all := AllUsable(table)
	for factor, levels := range all {
		for i := range levels {
			l := &levels[i]
			l.Reason, l.Fix = why(factor, l.Name)
			l.Usable = l.Reason == ""
		}
	}
	return all
}

// Unknown is the error of a level that an adapter does not know; nil for one that
// it knows, and for images, of which there are more than it has names for.
func Unknown(title string, table map[string][]string, factor, level string) *Error {
	known := table[factor]
	if factor == Image || !slices.ContainsFunc(Parts(factor, level), func(p string) bool { return !slices.Contains(known, p) }) {
		return nil
	}
	return &Error{Class: record.Unsupported,
		Text: fmt.Sprintf("%s has no level %q of the factor %s; it has %s", title, level, factor, strings.Join(known, ", "))}
}
