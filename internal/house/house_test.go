// Package house holds the rules of the house that no compiler checks: who may
// import whom.
package house

import (
	"errors"
	"fmt"
	"go/build"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"plimsoll/internal/common/require"
)

const (
	module = "plimsoll/"
	in     = module + "internal/"
)

// storeys lists the packages from the top of the house to the ground; imports
// go downwards only. A package below a listed folder belongs to its storey.
var storeys = [][]string{
	{"dist"},
	{"cli"},
	{"selftest", "features"},
	{"web", "run", "portable"},
	{"page"},
	{"plot"},
	{"view"},
	{"study"},
	{"agent"},
	{"collect", "storage", "trace", "spans", "tune", "build", "revision"},
	{"workload", "threshold", "profile", "place", "fleet"},
	{"engine"},
	{"imagestore"},
	{"host", "image", "likeness", "probe", "mpi", "slurm", "sshdiag"},
	{"export", "importer"},
	{"report"},
	{"verdict", "document"},
	{"words"},
	{"advise"},
	{"analyze", "timeline"},
	{"published"},
	{"record", "stats", "harmless", "child", "yamlfile", "remark", "dataimage", "golden", "csvfile"},
	{"safepath", "filelock", "journal", "require", "lists", "bounded", "devnull", "tested"},
}

// The wings are folders: what measures, what understands, and between them record,
// which like both stands on what is common.
const (
	measure    = "measure"
	understand = "understand"
	common     = "common"
)

type pkg struct {
	ImportPath string
	Imports    []string
}

func packages(t *testing.T) []pkg {
	t.Helper()
	all, err := listed()
	require.NoError(t, err)
	if len(all) < 10 {
		t.Fatalf("%d packages were found: the test looks in the wrong place", len(all))
	}
	return all
}

// listed looks once for all tests, for the packages of the system that it is on, as
// the go command does that would take a second for it.
var listed = sync.OnceValues(func() (all []pkg, err error) {
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if name := d.Name(); path != root && (strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || name == "node_modules" || name == "testdata") {
			return fs.SkipDir
		}
		if _, err := os.Stat(filepath.Join(path, "go.mod")); err == nil && path != root {
			return fs.SkipDir // a module of its own
		}
		p, err := build.ImportDir(path, 0)
		var none *build.NoGoError
		if errors.As(err, &none) {
			return nil
		}
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		all = append(all, pkg{module + filepath.ToSlash(rel), p.Imports})
		return err
	})
	return all, err
})

// room gives the package's folder below its wing, and the wing; what belongs to
// none lies directly below internal/.
func room(path string) (wing, name string) {
	rest, ok := strings.CutPrefix(path, in)
	if !ok {
		return "", ""
	}
	first, rest, _ := strings.Cut(rest, "/")
	switch first {
	case measure, understand, common:
		wing = first
		first, _, _ = strings.Cut(rest, "/")
	}
	return wing, first
}

func storey(room string) int {
	for i, s := range storeys {
		if slices.Contains(s, room) {
			return i
		}
	}
	return -1
}

// violation says which rule an import breaks, or "".
func violation(from, to string) string {
	wingA, a := room(from)
	wingB, b := room(to)
	switch {
	case b == "":
		return ""
	case a == "":
		return ""
	case a == b && wingA == wingB:
		return ""
	case a == "house" || b == "house":
		return "nothing imports the rules"
	case storey(a) < 0:
		return a + " has no storey: add it to the list"
	case storey(b) < 0:
		return b + " has no storey: add it to the list"
	case a == "record" && wingB != common:
		return "record imports neither wing"
	case wingA == common && wingB != common && b != "record":
		return "what is common imports neither wing"
	case wingA == understand && wingB == measure:
		return "what understands imports nothing that measures"
	case wingA == measure && wingB == understand:
		return "what measures imports nothing that understands"
	case a == "engine" && (b == "run" || b == "study"):
		return "an engine knows neither run nor study"
	case storey(a) >= storey(b):
		return "imports go downwards only"
	}
	return ""
}

func TestImportsGoDownwards(t *testing.T) {
	for _, p := range packages(t) {
		for _, to := range p.Imports {
			if why := violation(p.ImportPath, to); why != "" {
				t.Errorf("%s imports %s: %s", p.ImportPath, to, why)
			}
		}
	}
}

// An adapter must not lean on another adapter: each folder stands alone.
func TestAdaptersStandAlone(t *testing.T) {
	shared := []string{"adapter", "apirun", "archive", "catalogue", "clirun", "cni", "confile", "containerdclient", "enginetest", "forward", "buildconfig", "imagetest", "kata", "kittest", "pods", "private", "progress", "stamp", "thread", "userns", "cgroup"}
	adapter := func(path string) string {
		rest, ok := strings.CutPrefix(path, in+"measure/engine/")
		if !ok {
			return ""
		}
		first, _, _ := strings.Cut(rest, "/")
		return first
	}
	for _, p := range packages(t) {
		a := adapter(p.ImportPath)
		if a == "" || slices.Contains(shared, a) {
			continue
		}
		for _, to := range p.Imports {
			if b := adapter(to); b != "" && b != a && !slices.Contains(shared, b) {
				t.Errorf("%s imports %s: an adapter imports no other", p.ImportPath, to)
			}
		}
	}
}

// The rule itself must be able to fail.
func TestRuleFails(t *testing.T) {
	for _, c := range []struct{ from, to string }{
		{in + "understand/report", in + "measure/run"},
		{in + "understand/analyze", in + "measure/host"},
		{in + "measure/run", in + "understand/report"},
		{in + "measure/run", in + "understand/analyze"},
		{in + "measure/engine/docker", in + "measure/study"},
		{in + "record", in + "understand/report"},
		{in + "record", in + "measure/child"},
		{in + "common/stats", in + "understand/report"},
		{in + "measure/study", in + "measure/run"},
		{in + "newcomer", in + "record"},
	} {
		if violation(c.from, c.to) == "" {
			t.Errorf("%s may import %s: the rule has a hole", c.from, c.to)
		}
	}
	if why := violation(in+"measure/run", in+"measure/engine/docker"); why != "" {
		t.Errorf("run may not import an adapter: %s", why)
	}
}

// TestFuzzed: make fuzz runs every fuzz test.
func TestFuzzed(t *testing.T) {
	script, err := os.ReadFile("../../tools/test")
	require.NoError(t, err)
	fuzz := regexp.MustCompile(`(?m)^func (Fuzz\w+)\(`)
	err = filepath.WalkDir("..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range fuzz.FindAllSubmatch(text, -1) {
			want := fmt.Sprintf("%s:%s:", m[1], filepath.ToSlash(filepath.Dir(strings.TrimPrefix(path, "../"))))
			if !regexp.MustCompile(`[\s"]` + want).Match(script) {
				t.Errorf("the FUZZ of tools/test lacks %s", want)
			}
		}
		return nil
	})
	require.NoError(t, err)
}
