package house

import (
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strings"
)

// functions are those without a receiver, by folder and name.
type functions struct {
	of    map[string]map[string]*ast.FuncDecl
	known map[*ast.FuncDecl]outcome // what they come to, also while that is being found out
}

func noFunctions() functions {
	return functions{map[string]map[string]*ast.FuncDecl{}, map[*ast.FuncDecl]outcome{}}
}

var runByGo = regexp.MustCompile(`^(Test|Fuzz|Example)([^a-z]|$)`)

// add gives the names of those that go test runs.
func (of functions) add(folder string, file *ast.File) (tests []string) {
	if of.of[folder] == nil {
		of.of[folder] = map[string]*ast.FuncDecl{}
	}
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Recv != nil || f.Body == nil {
			continue
		}
		of.of[folder][f.Name.Name] = f
		if f.Name.Name != "TestMain" && runByGo.MatchString(f.Name.Name) {
			tests = append(tests, f.Name.Name)
		}
	}
	return tests
}

// What a piece of a test comes to with -short.
type outcome int

const (
	nothing outcome = iota // no test has a part in it
	skips                  // it ends the test, or each of its subtests
	does                   // something is judged, or it may be
)

// skipped tells whether a test, or whoever calls this helper, is skipped with -short before
// anything is judged. What it does not know it takes for judging.
func (of functions) skipped(folder, name string) bool {
	f := of.of[folder][name]
	if f == nil {
		return false
	}
	if _, ok := of.known[f]; !ok {
		of.known[f] = does // where it calls itself
		of.known[f] = of.block(folder, f.Body.List)
	}
	return of.known[f] == skips
}

func (of functions) block(folder string, body []ast.Stmt) outcome {
	all := nothing
	for _, s := range body {
		if of.always(folder, s) {
			return skips
		}
		all = max(all, of.parts(folder, s))
		if all == does {
			return does
		}
	}
	return all
}

// always tells whether a statement ends its test with -short, whatever else holds.
func (of functions) always(folder string, s ast.Stmt) bool {
	helper := func(x ast.Expr) bool {
		if not, ok := x.(*ast.UnaryExpr); ok {
			x = not.X
		}
		c, ok := x.(*ast.CallExpr)
		return ok && of.helper(folder, c)
	}
	switch s := s.(type) {
	case *ast.ExprStmt:
		return helper(s.X)
	case *ast.AssignStmt:
		return slices.ContainsFunc(s.Rhs, helper)
	case *ast.ReturnStmt:
		return slices.ContainsFunc(s.Results, helper)
	case *ast.IfStmt:
		return s.Init != nil && of.always(folder, s.Init) || helper(s.Cond) ||
			holds(s.Cond) && slices.ContainsFunc(s.Body.List, func(s ast.Stmt) bool { return skip(s) || of.always(folder, s) })
	}
	return false
}

// holds tells whether a condition holds in make unit: it gives -short, asks for no test that
// make test-site runs, and the engine is a real one (what simulates has tests of its own).
func holds(cond ast.Expr) bool {
	switch c := cond.(type) {
	case *ast.CallExpr:
		return called(c) == "testing.Short"
	case *ast.UnaryExpr:
		sel, ok := c.X.(*ast.SelectorExpr)
		return ok && c.Op == token.NOT && sel.Sel.Name == "Simulated"
	case *ast.BinaryExpr:
		get, ok := c.X.(*ast.CallExpr)
		if !ok || c.Op != token.NEQ || called(get) != "os.Getenv" {
			return false
		}
		name, ok := get.Args[0].(*ast.BasicLit)
		return ok && name.Value == `"PLIMSOLL_SITE"`
	}
	return false
}

func skip(s ast.Stmt) bool {
	x, ok := s.(*ast.ExprStmt)
	if !ok {
		return false
	}
	c, ok := x.X.(*ast.CallExpr)
	return ok && strings.HasPrefix(called(c), "t.Skip")
}

// helper tells whether a call is of a function that skips the test it is given.
func (of functions) helper(folder string, c *ast.CallExpr) bool {
	if !given(c) {
		return false
	}
	pkg, name, qualified := strings.Cut(called(c), ".")
	if !qualified {
		return of.skipped(folder, pkg)
	}
	for at := range of.of {
		if strings.HasSuffix(at, "/"+pkg) && of.skipped(at, name) {
			return true
		}
	}
	return false
}

// parts is what the calls in a statement come to.
func (of functions) parts(folder string, s ast.Stmt) outcome {
	all := nothing
	ast.Inspect(s, func(n ast.Node) bool {
		c, ok := n.(*ast.CallExpr)
		if !ok {
			return all != does
		}
		on, method, _ := strings.Cut(called(c), ".")
		switch {
		case on == "t" && method == "Run":
			part := does
			if f, ok := c.Args[1].(*ast.FuncLit); ok {
				part = of.block(folder, f.Body.List)
			}
			if part == nothing {
				part = does
			}
			all = max(all, part)
			return false
		case on == "t" && regexp.MustCompile(`^(Error|Fail|Fatal)`).MatchString(method), given(c) && !of.helper(folder, c):
			all = does
		}
		return all != does
	})
	return all
}

// given tells whether a call is given the test.
func given(c *ast.CallExpr) bool {
	return slices.ContainsFunc(c.Args, func(x ast.Expr) bool {
		id, ok := x.(*ast.Ident)
		return ok && id.Name == "t"
	})
}

// called is the name of a call's function, with its package's.
func called(c *ast.CallExpr) string {
	switch f := c.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		if x, ok := f.X.(*ast.Ident); ok {
			return x.Name + "." + f.Sel.Name
		}
	}
	return ""
}
