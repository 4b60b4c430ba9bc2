package golden

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
)

// Schema is a type that is written as JSON, and the golden file of its fields, without
// directory and ending.
type Schema struct {
	File string
	Type reflect.Type
}

// Of returns the schema of a type.
func Of[T any](file string) Schema { return Schema{file, reflect.TypeFor[T]()} }

// Schemas checks the Shape of each schema of the package in the working directory, and that
// none is missing: all are listed under the function or variable in whose declaration one of
// the writers, functions of the package, is called. The type must be the one that the
// source names there: writer[TYPE], or the result of the function that the writer is given.
func Schemas(t *testing.T, want map[string]Schema, writers ...string) {
	t.Helper()
	files := sources(t)
	is := written(files, writers)
	own := regexp.MustCompile(`\b` + files[0].Name.Name + `\.`)
	for name, x := range want {
		if got := own.ReplaceAllString(x.Type.String(), ""); !slices.Equal(is[name], []string{got}) {
			t.Errorf("%s is listed with the JSON of %s, and its source writes %q", name, got, is[name])
		}
		Shape(t, filepath.Join("testdata", "json", x.File+".txt"), x.Type)
	}
	for name, kinds := range is {
		if _, ok := want[name]; !ok {
			t.Errorf("%s writes JSON, %q, and no golden file holds it: list it with the others", name, kinds)
		}
	}
	paths, err := filepath.Glob(filepath.Join("testdata", "json", "*"))
	require.NoError(t, err)
	for _, path := range paths {
		held := func(x Schema) bool { return x.File+".txt" == filepath.Base(path) }
		if !slices.ContainsFunc(slices.Collect(maps.Values(want)), held) {
			t.Errorf("%s belongs to no schema: delete it", path)
		}
	}
}

// sources returns the parsed files of the package in the working directory, without tests.
func sources(t *testing.T) []*ast.File {
	t.Helper()
	paths, err := filepath.Glob("*.go")
	require.NoError(t, err)
	var out []*ast.File
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		f, err := parser.ParseFile(token.NewFileSet(), path, data, parser.SkipObjectResolution)
		require.NoError(t, err)
		out = append(out, f)
	}
	return out
}

// written returns the types that the writers write, by the name of the declaration that
// calls them. The writers themselves may call one another.
func written(files []*ast.File, writers []string) map[string][]string {
	out := map[string][]string{}
	for _, f := range files {
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if !slices.Contains(writers, d.Name.Name) {
					addWritten(out, d.Name.Name, d, writers)
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					if v, ok := s.(*ast.ValueSpec); ok {
						addWritten(out, v.Names[0].Name, v, writers)
					}
				}
			}
		}
	}
	return out
}

func addWritten(out map[string][]string, name string, in ast.Node, writers []string) {
	add := func(kind string) {
		if !slices.Contains(out[name], kind) {
			out[name] = append(out[name], kind)
		}
	}
	ast.Inspect(in, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IndexExpr:
			if slices.Contains(writers, types.ExprString(n.X)) {
				add(types.ExprString(n.Index))
				return false
			}
		case *ast.CallExpr:
			if !slices.Contains(writers, types.ExprString(n.Fun)) {
				break
			}
			if part, ok := n.Args[0].(*ast.FuncLit); ok {
				add(types.ExprString(part.Type.Results.List[0].Type))
			} else {
				add("a type that it does not name: write it in brackets")
			}
		}
		return true
	})
}
