package catalogue

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
)

// engineFolders are where engines and runtimes may be named: their adapters, and
// what several of these share.
const engineFolders = "internal/measure/engine/"

// notFolders are the packages below it that belong to no engine: they know none.
var notFolders = []string{"archive", "canary", "catalogue", "clirun", "enginetest", "forward", "pods", "private", "stamp", "thread", "userns", "cgroup"}

// mayName are the other places that name engines or runtimes, each with the reason
// why the engine can't tell it. A folder ends in a slash.
var mayName = map[string]string{
	"internal/measure/features/":                     "tries features with the engines' own commands, a row each",
	"internal/measure/engine/canary/":                "plants what a user may have in an engine, by that engine's own commands; tests only",
	"internal/measure/engine/enginetest/canaries.go": "says in which engines the canaries live; tests only",
	"internal/measure/engine/enginetest/census.go":   "looks for gVisor's sandbox, which hides its payload; tests only",
	"internal/measure/engine/forward/blame.go":       "tells who made a rule of the packet filter by the chains of their names",
	"internal/measure/portable/":                     "reaches two engines as their own clients do, where no adapter is built",
	"internal/cli/portable.go":                       "says in a flag's words what that half measures",
	"internal/measure/host/virtual.go":               "tells the container that we are in, whose engine is somebody else's",
	"internal/measure/host/census.go":                "knows where network namespaces are kept: a census asks nobody",
	"internal/measure/run/removals.go":               "is the one table of what is removed by which proof, over all engines",
	"internal/measure/imagestore/sif.go":             "makes SIF files, which only the tool of that format can",
	"internal/cli/docker_context.go":                 "finds a daemon by the rules of its own client, whose contexts they are",
	"internal/cli/selftest.go":                       "chooses that runtime",
	"internal/common/published/":                     "has the names in the papers",
	"internal/record/recordtest/":                    "makes records for tests",
	"internal/understand/view/viewtest/":             "makes records for tests",
	"internal/understand/advise/properties.go":       "knows by a record's runtime whose kernel it has; records do not tell",
	"internal/understand/report/screen_known.go":     "holds the two engines that readers know against each other; records do not tell which those are",
	"internal/understand/report/screen_lacks.go":     "measures isolation by what docker run has, which readers know",
	"internal/record/joined.go":                      "knows which clients of earlier versions' records came back with the removal; those records do not tell",
}

// otherMeanings are words that are engines' too: names of formats, of a registry,
// of a standard, and of what is anybody's.
var otherMeanings = regexp.MustCompile(`docker[- ]archive|docker\.io|\bOCI\b|\boci\b|oci-layout`)

// engineNames are what engines, their runtimes and their processes are called.
func engineNames() []string {
	anybodys := []string{"oci", "exe", "starter", "qemu", engine.DefaultLevel}
	var all []string
	add := func(names ...string) {
		for _, n := range names {
			n = strings.ToLower(n)
			if !slices.Contains(anybodys, n) && !slices.Contains(all, n) && regexp.MustCompile(`^[a-z]`).MatchString(n) {
				all = append(all, n)
			}
		}
	}
	for _, e := range All() {
		info := e.Info()
		if info.Baseline || info.Simulated { // these are Plimsoll's own
			continue
		}
		add(info.Name, info.Title)
		add(info.Levels[engine.Runtime]...)
		add(info.Levels[engine.Endpoint]...)
		add(info.Processes.Daemons...)
		add(info.Processes.Helpers...)
	}
	return all
}

// named lists the strings of a Go file that have one of the names as a word.
// Struct tags and what a command prints about itself are prose.
func named(file string, src any, names *regexp.Regexp) ([]string, error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, file, src, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var found []string
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec, *ast.Field:
			if f, ok := n.(*ast.Field); ok {
				_, inFunction := f.Type.(*ast.FuncType)
				return inFunction
			}
			return false
		case *ast.KeyValueExpr:
			if key, ok := n.Key.(*ast.Ident); ok && slices.Contains([]string{"Example", "Long", "Short", "Use", "What"}, key.Name) {
				return false
			}
		case *ast.BasicLit:
			text, err := strconv.Unquote(n.Value)
			if n.Kind == token.STRING && err == nil && names.MatchString(otherMeanings.ReplaceAllString(text, "")) {
				found = append(found, fmt.Sprintf("%s: %.80q", fset.Position(n.Pos()), text))
			}
		}
		return true
	})
	return found, nil
}

func wordOf(names []string) *regexp.Regexp {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = regexp.QuoteMeta(n)
	}
	return regexp.MustCompile(`(?i)\b(` + strings.Join(quoted, "|") + `)\b`)
}

// exception gives the entry of mayName that a file falls under.
func exception(file string) string {
	for place := range mayName {
		if file == place || strings.HasSuffix(place, "/") && strings.HasPrefix(file, place) {
			return place
		}
	}
	return ""
}

// inEngineFolder says whether a file is an engine's own, or the catalogue's.
func inEngineFolder(file string) bool {
	rest, ok := strings.CutPrefix(file, engineFolders)
	folder, _, deeper := strings.Cut(rest, "/")
	return ok && deeper && !slices.Contains(notFolders, folder)
}

// What is an engine's own stands in its folder: whoever adds one finds no list
// elsewhere that lacks it.
func TestEnginesAreNamedInTheirFolders(t *testing.T) {
	names := wordOf(engineNames())
	used := map[string]bool{}
	files := 0
	for _, root := range []string{"../../../../internal", "../../../../cmd"} {
		err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
			file := filepath.ToSlash(strings.TrimPrefix(path, "../../../../"))
			if err != nil || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") || inEngineFolder(file) {
				return err
			}
			files++
			found, err := named(path, nil, names)
			if place := exception(file); place != "" {
				used[place] = used[place] || len(found) > 0
				return err
			}
			for _, x := range found {
				t.Errorf("%s names an engine or a runtime outside its folder: let the engine tell it (engine.Info), or give the reason in mayName; a word that means something else goes into otherMeanings", x)
			}
			return err
		})
		require.NoError(t, err)
	}
	if files < 200 {
		t.Errorf("only %d files were read", files)
	}
	for place, why := range mayName {
		if !used[place] || why == "" {
			t.Errorf("mayName: %s names no engine any more, or has no reason", place)
		}
	}
}

// The rule must be able to fail.
func TestEnginesAreFound(t *testing.T) {
	names := wordOf(engineNames())
	for src, want := range map[string]int{
		`package x; var typical = map[string]int{"podman": 4, "lxd": 12}`:               2,
		`package x; func f(s string) bool { return s == "/run/crio-1.sock" }`:           1,
		`package x; var s = "containerd-shim"`:                                          1,
		`package x; var s = "saying that Charliecloud is slow"`:                         1,
		`package x; import "plimsoll/internal/measure/engine/docker"; var _ = docker.X`: 0,
		`package x; type t struct { A int ` + "`doc:\"such as docker\"`" + ` }`:         0,
		`package x; var c = command{Example: "plimsoll run --engine docker"}`:           0,
		`package x; var s = "a docker-archive, an OCI layout, docker.io/library/x"`:     0,
	} {
		found, err := named("x.go", src, names)
		if err != nil || len(found) != want {
			t.Errorf("%s: found %q, %v; want %d", src, found, err, want)
		}
	}
	if inEngineFolder("internal/measure/engine/engine.go") || inEngineFolder("internal/measure/engine/clirun/words.go") || !inEngineFolder("internal/measure/engine/lxd/lxd.go") {
		t.Error("the folders of engines are not told from others")
	}
}
