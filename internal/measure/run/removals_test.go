package run

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strconv"
	"strings"
	"testing"

	"plimsoll/internal/common/golden"
	"plimsoll/internal/common/require"
)

const cleanUpDocs = "../../../docs/clean-up.md"

// TestRemovals holds the table of docs/clean-up.md to Removals.
func TestRemovals(t *testing.T) {
	text, err := os.ReadFile(cleanUpDocs)
	require.NoError(t, err)
	const begin, end = "<!-- removals: go test ./internal/measure/run -run Removals -update -->\n", "<!-- end of removals -->"
	head, rest, ok := strings.Cut(string(text), begin)
	_, tail, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("%s has no block between %q and %q", cleanUpDocs, begin, end)
	}
	var want strings.Builder
	want.WriteString("| what | removed by | proof |\n| --- | --- | --- |\n")
	for _, r := range removals {
		fmt.Fprintf(&want, "| %s | %s | %s |\n", r.What, r.By, r.Proof)
	}
	golden.Check(t, cleanUpDocs, head+begin+want.String()+end+tail)
}

// TestRemovalsAreAll: each kind of the ledger and of the census has a row.
func TestRemovalsAreAll(t *testing.T) {
	rows := map[string]bool{}
	for _, r := range removals {
		for _, kind := range r.Kinds {
			rows[kind] = true
		}
	}
	for _, file := range []string{"../engine/ledger.go", "../host/census.go"} {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		require.NoError(t, err)
		kinds := 0
		ast.Inspect(parsed, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || !strings.HasPrefix(spec.Names[0].Name, "Kind") || len(spec.Values) != 1 {
				return true
			}
			kinds++
			value, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			require.NoError(t, err)
			if !rows[value] {
				t.Errorf("%s: %s has no row in Removals", file, spec.Names[0].Name)
			}
			return true
		})
		if kinds < 6 {
			t.Errorf("%s: found %d kinds, expected at least 6", file, kinds)
		}
	}
}
