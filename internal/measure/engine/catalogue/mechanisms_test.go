package catalogue

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/imagestore"
)

// What an engine can do without is complete: its levels are there, it says what it
// is and what it costs its user, the engine below is one, and what is left out is
// tried on the real engine.
func TestMechanismsAreComplete(t *testing.T) {
	names := map[string]bool{}
	for _, e := range All() {
		names[e.Info().Name] = true
	}
	for _, e := range All() {
		info := e.Info()
		if info.Below != "" && (!names[info.Below] || info.Below == info.Name) {
			t.Errorf("%s calls %q, which is no other engine", info.Name, info.Below)
		}
		var leaves []string
		for i, m := range info.Mechanisms {
			what := info.Name + ": " + m.Name
			if m.Name == "" || m.Title == "" || m.Price == "" {
				t.Errorf("%s: %+v", what, m)
			}
			known := func(level string) bool {
				_, err := imagestore.Describe(level)
				return slices.Contains(info.Levels[m.Factor], level) || m.Factor == engine.Image && err == nil
			}
			if !known(m.To) || m.From != engine.DefaultLevel && !known(m.From) || m.From == m.To {
				t.Errorf("%s: from %s to %s of %s, and the levels are %v", what, m.From, m.To, m.Factor, info.Levels[m.Factor])
			}
			if slices.ContainsFunc(info.Mechanisms[:i], func(o engine.Mechanism) bool { return o.Name == m.Name }) {
				t.Errorf("%s is there twice", what)
			}
			if m.Factor == engine.Without {
				leaves = append(leaves, m.To)
			}
		}
		if without := info.Levels[engine.Without]; len(leaves) > 0 && !slices.Equal(without[1:], leaves) {
			t.Errorf("%s leaves out %v, and its mechanisms are %v", info.Name, without, leaves)
		}
		if len(leaves) > 0 && !info.Simulated && !calls(t, folder(info.Name), "enginetest.Mechanisms(") {
			t.Errorf("%s: no test in %s calls enginetest.Mechanisms", info.Name, folder(info.Name))
		}
	}
}

// TestMechanismsAreDocumented: the documentation says of each engine what it can do without,
// and what beside.
func TestMechanismsAreDocumented(t *testing.T) {
	var rows []string
	for _, e := range All() {
		info := e.Info()
		if info.Simulated || len(info.Mechanisms) == 0 {
			continue
		}
		var without, beside []string
		for _, m := range info.Mechanisms {
			if m.Adds {
				beside = append(beside, m.Name)
			} else {
				without = append(without, m.Name)
			}
		}
		rows = append(rows, "| `"+info.Name+"` | "+strings.Join(without, ", ")+" | "+strings.Join(beside, ", ")+" |")
	}
	text, err := os.ReadFile("../../../../docs/ablate.md")
	require.NoError(t, err)
	if want := "| engine | can leave out | can add |\n|---|---|---|\n" + strings.Join(rows, "\n") + "\n\n"; !strings.Contains(string(text), want) {
		t.Errorf("docs/ablate.md lacks this table:\n%s", want)
	}
}

// calls says whether a test in a folder has this text.
func calls(t *testing.T, dir, text string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	require.NoError(t, err)
	for _, f := range files {
		if b, err := os.ReadFile(f); err == nil && strings.Contains(string(b), text) {
			return true
		}
	}
	return false
}
