package features

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"plimsoll/internal/common/published"
	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/child"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/imagetest"
	adapter "plimsoll/internal/measure/engine/podman"
	"plimsoll/internal/measure/engine/sarus"
	"plimsoll/internal/record"
)

// The table begins with the published rows, in their order and words, and each
// row says how it is tried in every engine that has a hand.
func TestTable(t *testing.T) {
	all := all()
	for i, p := range published.Features() {
		if i >= len(all) || all[i].Title != p.Name || all[i].Group != p.Group {
			t.Errorf("row %d is not the published %q of %q", i, p.Name, p.Group)
		}
	}
	if len(all) < 35 {
		t.Errorf("only %d rows", len(all))
	}
	seen := map[string]bool{}
	for _, f := range all {
		if !regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`).MatchString(f.ID) || seen[f.ID] || f.Means == "" {
			t.Errorf("row %q: the id is wrong, or twice, or the meaning is missing (%q)", f.ID, f.Means)
		}
		seen[f.ID] = true
		for name := range hands {
			if f.attemptOf(name) == nil {
				t.Errorf("row %s: no attempt for %s", f.ID, name)
			}
		}
		for name := range f.By {
			if hands[name] == nil {
				t.Errorf("row %s names the engine %s, which has no hand", f.ID, name)
			}
		}
	}
	for _, e := range Engines() {
		if !slices.Contains(offered(t), e) {
			t.Errorf("there is no engine %s", e)
		}
	}
	for _, e := range published.FeatureEngines() {
		if !slices.ContainsFunc(Engines(), func(ours string) bool { return published.Engine(ours) == e }) {
			t.Errorf("the published column %s is missing", e)
		}
	}
	if got := publishedFor("Built-in image builder", "sarus"); got != "no" {
		t.Errorf("published: sarus %q", got)
	}
	if got := publishedFor("Support for SIF", "apptainer"); got != "yes" {
		t.Errorf("published: apptainer, as Singularity, %q", got)
	}
	if got := publishedFor("Secrets", "docker"); got != "" {
		t.Errorf("published: a row that came since has %q", got)
	}
}

// offered are the engines' names, by the list that is held against the catalogue itself
// (TestPortableCatalogue): linking every adapter takes longer than these tests.
func offered(t *testing.T) (names []string) {
	t.Helper()
	text, err := os.ReadFile("../portable/catalogue.json")
	require.NoError(t, err)
	var list struct{ Engines []struct{ Name string } }
	require.NoError(t, json.Unmarshal(text, &list))
	for _, e := range list.Engines {
		names = append(names, e.Name)
	}
	return names
}

// scripted is an attempt against a shell script in place of an engine.
func scripted(t *testing.T, script string, a attempt) (ended, *try) {
	t.Helper()
	kit := imagetest.Kit(t)
	b := &bench{kit: kit, name: "scripted", dir: kit.Dir, shared: map[string]*shared{}}
	b.hand = hand{program: []string{"/bin/sh", "-c", script, "engine"}}
	x := &try{ctx: context.Background(), b: b, dir: t.TempDir()}
	return *x.attempt(a), x
}

// A no is only what an engine refused by name or lacks by its help: whatever
// else goes wrong tells nothing.
func TestVerdicts(t *testing.T) {
	help := `echo "a help that goes on and on: commands are run, stop, list, remove, pull, push, tag, inspect, import, export, login and some more for the sake of its length"`
	ask := func(x *try) { x.asked(x.b.hand.cmd("do")...) }
	refuse := func(x *try) { x.refuses([]string{"not an image"}, x.b.hand.cmd("do")...) }
	for _, c := range []struct {
		name, script string
		a            attempt
		want         record.FeatureValue
		why          string
	}{
		{"goes through", "true", ask, record.FeatureYes, ""},
		{"unknown option", "echo unknown flag: --do >&2; exit 125", ask, record.FeatureNo, "unknown flag"},
		{"another failure", "echo no space left >&2; exit 1", ask, record.FeatureUntried, "no space left"},
		{"refused as expected", "echo this is not an image >&2; exit 1", refuse, record.FeatureNo, "not an image"},
		{"refused otherwise", "echo connection refused >&2; exit 1", refuse, record.FeatureUntried, "connection refused"},
		{"not refused", "true", refuse, record.FeatureYes, ""},
		{"help lacks it", help, lacks("it has none", []string{"build"}, "--help"), record.FeatureNo, "it has none"},
		{"help names it", help + "; echo build", lacks("it has none", []string{"build"}, "--help"), record.FeatureUntried, `"build"`},
		{"no help", "exit 1", lacks("it has none", []string{"build"}, "--help"), record.FeatureUntried, "could not be read"},
		{"preparing fails", "exit 3", func(x *try) { x.must(x.b.hand.cmd()...) }, record.FeatureUntried, "preparing"},
		{"no such program", "", func(x *try) { x.run("plimsoll-no-such-program") }, record.FeatureUntried, "not installed"},
		{"words missing", "echo a", func(x *try) { x.shows(x.run(x.b.hand.cmd()...), "b") }, record.FeatureNo, `"b" is missing`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, x := scripted(t, c.script, c.a)
			if got.value != c.want || !strings.Contains(got.why, c.why) {
				t.Errorf("%s %q, want %s %q", got.value, got.why, c.want, c.why)
			}
			if len(x.evidence) != 1 {
				t.Errorf("%d commands are kept as evidence", len(x.evidence))
			}
		})
	}
}

// A part that is one for want of hardware or of a service says so where verdicts look: in the
// cell's mark, and not in its words alone.
func TestLackingIsMarked(t *testing.T) {
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	parts := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for line := range strings.Lines(string(text)) {
			if strings.Contains(line, "t.partial(\"") {
				parts++
				if strings.Contains(line, "there is no ") {
					t.Errorf("%s: a part for want of something without partialFor: %s", file, line)
				}
			}
		}
	}
	if parts < 8 {
		t.Errorf("only %d parts were found", parts)
	}

	got, _ := scripted(t, "true", func(x *try) { x.partialFor("there is no %s", "a part; %s", "words") })
	if got.value != record.FeaturePartial || got.why != "a part; words" || got.lacking != "there is no %s" {
		t.Errorf("%+v", got)
	}
	got, _ = scripted(t, "true", func(x *try) {
		x.b.kit.LookPath = func(string) (string, error) { return "", context.Canceled }
		x.partialFor(x.managed(), "a child")
	})
	if got.lacking != "there is no workload manager (srun is not installed)" {
		t.Errorf("without Slurm: %+v", got)
	}
}

// Where a GPU is, it is not said to be missing.
func TestUnseenGPU(t *testing.T) {
	was := gpuDevices
	t.Cleanup(func() { gpuDevices = was })
	device := filepath.Join(t.TempDir(), "nvidia0")
	gpuDevices = []string{filepath.Join(filepath.Dir(device), "nvidia[0-9]*")}
	if lacking, why := unseenGPU(); lacking != "there is no GPU" || !strings.Contains(why, "no GPU here") {
		t.Errorf("without: %q, %q", lacking, why)
	}
	require.NoError(t, os.WriteFile(device, nil, 0o600))
	if lacking, why := unseenGPU(); lacking != "none of these attempts uses a GPU" || strings.Contains(why, "no GPU") {
		t.Errorf("with one: %q, %q", lacking, why)
	}
}

// Engines are tried side by side, and a container is found by its words: no two have the same.
func TestSleepsAreApart(t *testing.T) {
	seen := map[string]bool{}
	var mu sync.Mutex
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 50 {
				words := strings.Join(asleep(), " ")
				mu.Lock()
				if seen[words] {
					t.Errorf("%s twice", words)
				}
				seen[words] = true
				mu.Unlock()
			}
		})
	}
	all.Wait()
}

// What several attempts need is prepared once; where that failed each of them
// says so, and its evidence stands in each.
func TestShared(t *testing.T) {
	runs := 0
	prepare := func(x *try) int {
		return once(x, "key", func(x *try) int {
			runs++
			x.must(x.b.hand.cmd()...)
			return 7
		})
	}
	both := func(x *try) {
		if prepare(x)+prepare(x) != 14 {
			x.no("another value")
		}
	}
	got, x := scripted(t, "echo prepared", both)
	if got.value != record.FeatureYes || runs != 1 || len(x.evidence) != 2 {
		t.Errorf("%v after %d runs with %d commands", got, runs, len(x.evidence))
	}
	got, _ = scripted(t, "exit 1", both)
	if got.value != record.FeatureUntried || runs != 2 {
		t.Errorf("%v after %d runs", got, runs)
	}
}

// An engine that is not here has a column that says so; one that is not known
// is an error.
func TestAbsent(t *testing.T) {
	kit := imagetest.Kit(t)
	kit.LookPath = func(name string) (string, error) { return "", context.Canceled }
	got, err := Run(context.Background(), Options{Kit: kit, All: []engine.Engine{adapter.New(), sarus.New()}, Engines: []string{"podman", "sarus"}})
	require.NoError(t, err)
	if len(got.Engines) != 2 || got.Tried() {
		t.Errorf("%+v", got.Engines)
	}
	for _, r := range got.Rows {
		for name, c := range r.Cells {
			if c.Value != record.FeatureUntried || !strings.HasPrefix(c.Why, "not usable here: ") {
				t.Errorf("%s of %s: %s %q", r.ID, name, c.Value, c.Why)
			}
		}
	}
	if c := got.Cell("rootless", "sarus"); c.Published != "no" || c.Differs() {
		t.Errorf("published of an absent engine: %+v", c)
	}
	for _, o := range []Options{{Engines: []string{"dokcer"}}, {Features: []string{"rootles"}}} {
		if _, err := Run(context.Background(), o); err == nil || !strings.Contains(err.Error(), "expected one of") {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

// The manual has a line for each row, in the table's order and words.
func TestManual(t *testing.T) {
	text, err := os.ReadFile("../../../docs/features.md")
	require.NoError(t, err)
	at := 0
	for _, f := range all() {
		line := "\n| `" + f.ID + "` | " + f.Title + " | " + f.Means + " |\n"
		i := strings.Index(string(text)[at:], line)
		if i < 0 {
			t.Errorf("docs/features.md lacks, in this order:%s", line)
			continue
		}
		at += i
	}
	for name := range hands {
		if !strings.Contains(string(text), "\n| `"+name+"` | ") {
			t.Errorf("docs/features.md does not say how %s is tried", name)
		}
	}
}

// On a machine on which all takes longer, an attempt may take longer, too.
func TestPatience(t *testing.T) {
	child.SetPatience(4)
	defer child.SetPatience(1)
	b := &bench{name: "docker", dir: t.TempDir()}
	b.cell(t.Context(), feature{Any: func(a *try) {
		if end, ok := a.ctx.Deadline(); !ok || time.Until(end) < 3*attemptLimit {
			t.Errorf("it has %s", time.Until(end))
		}
	}}, 1)
}
