package run

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"plimsoll/internal/common/golden"
	"plimsoll/internal/common/require"
)

// kindsIn are the values of the constants Kind… of a file.
func kindsIn(t *testing.T, path string) (kinds []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	require.NoError(t, err)
	ast.Inspect(file, func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if !ok || len(v.Values) != 1 || !strings.HasPrefix(v.Names[0].Name, "Kind") {
			return true
		}
		if lit, ok := v.Values[0].(*ast.BasicLit); ok {
			text, err := strconv.Unquote(lit.Value)
			require.NoError(t, err)
			kinds = append(kinds, text)
		}
		return true
	})
	return kinds
}

// Whatever can be in a ledger or a census has a row, and the documentation shows them.
func TestProofs(t *testing.T) {
	all := append(kindsIn(t, "../engine/ledger.go"), kindsIn(t, "../host/census.go")...)
	if len(all) < 20 {
		t.Fatalf("%d kinds were found: the test looks in the wrong place", len(all))
	}
	for _, kind := range all {
		if !slices.ContainsFunc(Proofs, func(p Proof) bool { return slices.Contains(p.Kinds, kind) }) {
			t.Errorf("by which proof is a %s removed?", kind)
		}
	}
	const page, begin, end = "../../../docs/clean-up.md", "<!-- from here: go test ./internal/measure/run -run Proofs -update -->\n", "<!-- to here -->\n"
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	before, rest, ok := strings.Cut(string(text), begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the table", page)
	}
	golden.Check(t, page, before+begin+ProofTable()+end+after)
}
