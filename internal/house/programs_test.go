package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
)

// ownDoor are the files that start a program by another way than the package
// child, each with its reason.
var ownDoor = map[string]string{
	"internal/measure/trace/start_linux.go":     "the thread that starts the program and waits for it is the one that is followed",
	"internal/measure/child/process.go":         "it is the door",
	"internal/measure/probe/launcher.go":        "a launcher lives as long as its environment; each answer of its has a limit, and it dies with the thread that started it",
	"internal/measure/engine/podman/service.go": "a service lives as long as its environment; each answer has a limit, and its end is told by its process id",
	"internal/measure/engine/private/daemon.go": "a daemon outlives us where we are killed, so it is started on a thread with namespaces of its own and found again by its mark; it writes to a file, so nobody holds a pipe",
	"internal/measure/portable/ssh.go":          "a connection lives as long as its process, on every system; each request has a limit, and the process is killed where the connection is closed",
	"internal/measure/portable/command.go":      "it is timed by Go's own means, on every system; each has a limit, and a child that holds the pipe is waited for two seconds",
	"internal/cli/cli.go":                       "it becomes itself again, in a scope of the user's manager of services: scope.go",
	"internal/dist/parts.go":                    "a tool of the build: `go` by its maker, who waits for it",
}

// starters are what starts a program.
var starters = map[string][]string{
	"os/exec":               {"Command", "CommandContext", "Cmd"},
	"os":                    {"StartProcess"},
	"syscall":               {"ForkExec", "StartProcess", "Exec"},
	"golang.org/x/sys/unix": {"Exec"},
}

// starts lists what of a file starts a program, as name and line.
func starts(fset *token.FileSet, file *ast.File) []string { return uses(fset, file, starters) }

// uses lists what of a file names one of these, by package.
func uses(fset *token.FileSet, file *ast.File, of map[string][]string) []string {
	names := map[string][]string{}
	for _, im := range file.Imports {
		path := strings.Trim(im.Path.Value, `"`)
		if funcs := of[path]; funcs != nil {
			name := filepath.Base(path)
			if im.Name != nil {
				name = im.Name.Name
			}
			names[name] = funcs
		}
	}
	var found []string
	ast.Inspect(file, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if x, ok := sel.X.(*ast.Ident); ok && slices.Contains(names[x.Name], sel.Sel.Name) {
			found = append(found, fset.Position(sel.Pos()).String()+": "+x.Name+"."+sel.Sel.Name)
		}
		return true
	})
	return found
}

// A program on somebody's PATH may hang, and its child may hold the pipe: every
// program is started by the one package that knows what to do then.
func TestProgramsAreStartedByOneDoor(t *testing.T) {
	used := map[string]bool{}
	for _, src := range sources(t) {
		if importsTesting(src.file) {
			continue // what only tests use
		}
		found := starts(src.fset, src.file)
		if len(found) > 0 && ownDoor[src.path] != "" {
			used[src.path] = true
			continue
		}
		for _, f := range found {
			t.Errorf("%s: start it by the package child, which ends it with all that it has started", f)
		}
	}
	for _, f := range slices.Sorted(maps.Keys(ownDoor)) {
		if !used[f] {
			t.Errorf("%s has an exception and starts nothing: take it off the list", f)
		}
	}
}

// The rule itself must be able to fail.
func TestDoorIsSeen(t *testing.T) {
	const text = `package x
import run "os/exec"
import ( "os"; "syscall" )
func f() { run.Command("a"); run.CommandContext(nil, "b"); os.StartProcess("", nil, nil); syscall.ForkExec("", nil, nil); _ = &run.Cmd{}; run.LookPath("") }`
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "x.go", text, 0)
	require.NoError(t, err)
	if got := starts(fset, file); len(got) != 5 {
		t.Errorf("%q", got)
	}
}

func importsTesting(file *ast.File) bool {
	return slices.ContainsFunc(file.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == `"testing"` })
}
