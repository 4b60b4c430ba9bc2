package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// source is a Go file that is no test.
type source struct {
	path string // from the root, with slashes
	fset *token.FileSet
	file *ast.File
}

// below is the file's path from a folder of the root, if it lies there.
func (s source) below(folder string) (path string, ok bool) {
	return strings.CutPrefix(s.path, folder+"/")
}

// sources are all Go files but tests and examples, read once for all rules.
func sources(t *testing.T) []source {
	t.Helper()
	all, err := parsed()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 100 {
		t.Fatalf("%d files were read: the test looks in the wrong place", len(all))
	}
	return all
}

var parsed = sync.OnceValues(func() (all []source, err error) {
	for _, top := range []string{"internal", "cmd", "tools"} {
		err := filepath.WalkDir(filepath.Join(root, top), func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() && (d.Name() == "node_modules" || d.Name() == "testdata") {
				return fs.SkipDir
			}
			if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return nil
			}
			fset := token.NewFileSet()
			file, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			rel, err := filepath.Rel(root, path)
			all = append(all, source{filepath.ToSlash(rel), fset, file})
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
})
