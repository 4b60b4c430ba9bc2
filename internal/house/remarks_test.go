package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"plimsoll/internal/common/remark"
	"plimsoll/internal/common/require"
)

// remarks are the codes that a package's files raise: those that stand in a
// Remark, and those given to a function for its parameter "code" where the
// package puts that into one. all are all its strings: a code may come from a
// table.
func remarks(files []*ast.File) (raised, all []string) {
	literal := func(e ast.Expr) string {
		if lit, ok := e.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			text, _ := strconv.Unquote(lit.Value) // the compiler has read it
			return text
		}
		return ""
	}
	// place is that of the parameter, -1 where there is none.
	place := func(f *ast.FuncType) int {
		at := 0
		for _, p := range f.Params.List {
			for _, n := range p.Names {
				if n.Name == "code" {
					return at
				}
				at++
			}
		}
		return -1
	}
	makers, given := map[string]int{}, false
	for _, f := range files {
		for _, d := range f.Decls {
			if d, ok := d.(*ast.FuncDecl); ok {
				makers[d.Name.Name] = place(d.Type)
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BasicLit:
				all = append(all, literal(n))
			case *ast.KeyValueExpr:
				if key, ok := n.Key.(*ast.Ident); ok && key.Name == "Code" {
					raised = append(raised, literal(n.Value))
					value, ok := n.Value.(*ast.Ident)
					given = given || ok && value.Name == "code"
				}
			}
			return true
		})
	}
	for _, f := range files {
		for _, d := range f.Decls {
			mine := maps.Clone(makers) // a function's own closures are no other's
			ast.Inspect(d, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.AssignStmt:
					name, ok := n.Lhs[0].(*ast.Ident)
					if f, is := n.Rhs[0].(*ast.FuncLit); ok && is {
						mine[name.Name] = place(f.Type)
					}
				case *ast.CallExpr:
					name, ok := n.Fun.(*ast.Ident)
					if !ok || !given {
						break
					}
					if at, ok := mine[name.Name]; ok && at >= 0 && at < len(n.Args) {
						raised = append(raised, literal(n.Args[at]))
					}
				}
				return true
			})
		}
	}
	raised = slices.DeleteFunc(raised, func(code string) bool { return code == "" }) // a variable's is elsewhere
	return raised, all
}

// TestRemarks: nobody raises a remark that is not in the list, and the list has
// none that nobody raises.
func TestRemarks(t *testing.T) {
	packages := map[string][]*ast.File{}
	for _, src := range sources(t) {
		dir, ok := strings.CutPrefix(path.Dir(src.path), "internal/")
		if ok && !strings.HasSuffix(dir, "test") && dir != "common/remark" {
			packages[dir] = append(packages[dir], src.file)
		}
	}
	listed := func(code string) bool {
		return slices.ContainsFunc(remark.List, func(k remark.Kind) bool { return k.Code == code })
	}
	there, count := map[string]bool{}, 0
	for dir, files := range packages {
		raised, all := remarks(files)
		for _, code := range raised {
			if count++; !listed(code) {
				t.Errorf("%s raises the remark %q, which internal/common/remark does not list", dir, code)
			}
		}
		for _, text := range all {
			there[text] = true
		}
	}
	if count < 70 {
		t.Errorf("only %d remarks are raised: the test looks in the wrong place", count)
	}
	for _, k := range remark.List {
		if !there[k.Code] {
			t.Errorf("nobody raises %s's remark %q", k.By, k.Code)
		}
	}
}

// The rule itself must be able to fail.
func TestRemarksFails(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "x.go", `package x
		func f() { add := func(level, code string) { _ = Remark{Code: code} }; add("warn", "made-up"); _ = Remark{Code: "plain"} }`, 0)
	require.NoError(t, err)
	raised, all := remarks([]*ast.File{f})
	if slices.Sort(raised); !slices.Equal(raised, []string{"made-up", "plain"}) || !slices.Contains(all, "warn") {
		t.Errorf("raised are %q of %q", raised, all)
	}
}
