package workload

import (
	"fmt"
	"os"
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

// catalogueTable leaves parameters and metrics to plimsoll workloads.
func catalogueTable() string {
	var b strings.Builder
	group := ""
	for _, w := range Catalogue() {
		if w.Group != group {
			group = w.Group
			fmt.Fprintf(&b, "\n### %s\n\n| workload | what it is |\n|---|---|\n", group)
		}
		fmt.Fprintf(&b, "| `%s` | %s |\n", w.Name, strings.ReplaceAll(w.What, "|", "\\|"))
	}
	return b.String()
}
