package workload

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
)

const docsFile = "../../../docs/workloads.md"

// TestDocs holds the table of the manual to the catalogue.
func TestDocs(t *testing.T) {
	b, err := os.ReadFile(docsFile)
	require.NoError(t, err)
	const mark = "-run Docs -update -->\n"
	head, table, ok := strings.Cut(string(b), mark)
	if !ok {
		t.Fatalf("%s has no mark %q", docsFile, mark)
	}
	want := catalogueTable()
	if *update {
		require.NoError(t, os.WriteFile(docsFile, []byte(head+mark+want), 0o600))
		table = want
	}
	if table != want {
		t.Error("the table in docs/workloads.md is not the catalogue's; make it anew with: go test ./internal/measure/workload -run Docs -update")
	}
}

// catalogueTable leaves levels and metrics to plimsoll workloads show NAME.
func catalogueTable() string {
	var b strings.Builder
	cell := func(s string) string { return strings.ReplaceAll(s, "|", "\\|") }
	group := ""
	for _, w := range Catalogue() {
		if w.Group != group {
			group = w.Group
			fmt.Fprintf(&b, "\n### %s\n\n| workload | what it is | parameters |\n|---|---|---|\n", group)
		}
		params := slices.Sorted(maps.Keys(w.Parameters))
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", w.Name, cell(w.What), strings.Join(params, ", "))
	}
	return b.String()
}
