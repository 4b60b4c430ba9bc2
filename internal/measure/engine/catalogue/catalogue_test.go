package catalogue

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
)

// folders are where an engine's code lies, if not in a folder of its name.
var folders = map[string]string{"host": "baseline", "native": "baseline", "floor": "baseline", "incus": "lxd", "balena": "docker"}

// To add an engine is one folder with a conformance test, one line, and its
// rows in the documentation: this test walks the list and demands them.
func TestEveryEngineIsComplete(t *testing.T) {
	text, err := os.ReadFile("../../../../docs/engines.md")
	require.NoError(t, err)
	docs := string(text)
	seen := map[string]bool{}
	for _, e := range All() {
		info := e.Info()
		if !regexp.MustCompile(`^[a-z][a-z0-9-]*$`).MatchString(info.Name) || info.Title == "" {
			t.Errorf("name %q, title %q", info.Name, info.Title)
		}
		if seen[info.Name] {
			t.Errorf("%s is listed twice", info.Name)
		}
		seen[info.Name] = true
		if !tested(t, folder(info.Name)) {
			t.Errorf("%s: no test in %s calls enginetest.Conformance", info.Name, folder(info.Name))
		}
		if !strings.Contains(docs, "\n| `"+info.Name+"` | ") {
			t.Errorf("docs/engines.md has no row for %s", info.Name)
		}
		for _, script := range scripts(info) {
			checkScript(t, info.Name, script)
		}
		for factor, names := range info.Untried {
			for _, name := range names {
				if !slices.Contains(info.Levels[factor], name) {
					t.Errorf("%s was never tried with %s %s, which it does not have", info.Name, factor, name)
				}
			}
		}
		for _, name := range info.Levels[engine.Runtime] {
			if strings.HasPrefix(name, "kata") && !slices.Contains(info.Untried[engine.Runtime], name) {
				t.Errorf("%s: nobody has run %s, and nothing says so", info.Name, name)
			}
		}
		for factor, names := range info.Levels {
			if !slices.Contains(engine.Factors, factor) {
				t.Errorf("%s varies %q, which is no factor", info.Name, factor)
			}
			// docs/ablate.md has the mechanisms, and a single level is no choice.
			mechanism := !info.Simulated && (factor == engine.Without || factor == engine.With)
			if factor != engine.Image && !mechanism && len(names) > 1 {
				checkRow(t, docs, info.Name, factor, names)
			}
		}
	}
	entries, err := os.ReadDir("..")
	require.NoError(t, err)
	for _, entry := range entries {
		dir := filepath.Join("..", entry.Name())
		listed := seen[entry.Name()] || entry.Name() == "baseline" || entry.Name() == "catalogue"
		if entry.IsDir() && !listed && tested(t, dir) {
			t.Errorf("%s has a conformance test and is not in the catalogue", dir)
		}
	}
}

// scripts are the lab's by which whoever has the repository gets an engine to run:
// one of its name, or one for each endpoint, or runtime, that it stands for.
func scripts(info engine.Info) []string {
	if info.Baseline || info.Simulated || info.Unverified || info.ByHand != "" {
		return nil
	}
	if _, err := os.Stat(lab + "engines/" + info.Name); err == nil {
		return []string{info.Name}
	}
	for _, factor := range []string{engine.Endpoint, engine.Runtime} {
		names := slices.DeleteFunc(slices.Clone(info.Levels[factor]), func(l string) bool { return l == engine.DefaultLevel })
		if len(names) > 0 {
			return names
		}
	}
	return []string{info.Name}
}

const lab = "../../../../lab/"

// checkScript demands a script, which the tests' set-up runs unless its summary says that
// it is run only when LAB_ENGINES names it.
func checkScript(t *testing.T, engine, script string) {
	t.Helper()
	if fi, err := os.Stat(lab + "engines/" + script); err != nil || fi.Mode()&0o100 == 0 {
		t.Errorf("%s: there is no program lab/engines/%s, by which others get it to run", engine, script)
	}
}

func folder(name string) string {
	if f := folders[name]; f != "" {
		name = f
	}
	return filepath.Join("..", name)
}

// tested says whether a test in dir goes through the conformance suite.
func tested(t *testing.T, dir string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	require.NoError(t, err)
	for _, f := range files {
		text, err := os.ReadFile(f)
		require.NoError(t, err)
		if strings.Contains(string(text), "enginetest.Conformance(") {
			return true
		}
	}
	return false
}

// checkRow demands the row of an engine's factor, with every level in it, or a
// word on where they stand.
func checkRow(t *testing.T, docs, name, factor string, levels []string) {
	t.Helper()
	row, rows := "", 0
	for line := range strings.Lines(docs) {
		cells := strings.Split(line, " | ")
		if len(cells) == 3 && cells[1] == factor && strings.Contains(cells[0], "`"+name+"`") {
			row, rows = cells[2], rows+1
		}
	}
	if rows != 1 {
		t.Errorf("docs/engines.md has %d rows for the factor %s of %s, not one", rows, factor, name)
		return
	}
	if strings.HasPrefix(row, "see below") {
		row = docs
	}
	for _, l := range levels {
		if !strings.Contains(row, "`"+l+"`") {
			t.Errorf("docs/engines.md, row for the factor %s of %s: the level %s is missing", factor, name, l)
		}
	}
}
