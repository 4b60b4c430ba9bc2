package engine

import "slices"

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
