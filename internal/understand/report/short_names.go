package report

import (
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/words"
)

// shortNames gives each of these environments its short name (words.Name), or a little longer
// one where two would look alike. It knows no other.
func shortNames(envs []string) func(env string) string {
	ids := analyze.Also(nil, envs...)
	names := make(map[string]string, len(ids))
	for i, name := range words.Rows(ids) {
		names[ids[i]] = name
	}
	return func(env string) string { return names[env] }
}
