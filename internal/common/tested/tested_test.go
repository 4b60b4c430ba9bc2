package tested

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/common/golden"
	"plimsoll/internal/common/require"
)

func TestCompare(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"20.10.24+dfsg1", "20.10.24", 0}, {"1.6.20~ds1", "1.6.20", 0}, {"1.10", "1.9", 1}, {"v5.7.0", "5.4.2", 1}, {"257", "252", 1}, {"1.5", "1.5.3", -1}, {"0.0~20240729.0", "0.0~20221219.0", 0},
	} {
		if got := compare(c.a, c.b); got != c.want {
			t.Errorf("%s against %s: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

// TestTable: what is embedded can be read, and what is entered is found again.
func TestTable(t *testing.T) {
	All()
	path := filepath.Join(t.TempDir(), "tested.json")
	require.NoError(t, os.WriteFile(path, []byte("[]"), 0o600))
	e := Entry{Engine: "docker", Version: "26.1.5+dfsg1", Platform: "Debian GNU/Linux 13 (trixie)", By: "platform", Date: "2026-11-29"}
	later := e
	later.Date = "2026-12-01"
	old := e
	old.Version = "20.10.24+dfsg1"
	require.NoError(t, Note(path, e, old))
	require.NoError(t, Note(path, later))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	all, err := parse(text)
	require.NoError(t, err)
	if len(all) != 2 || all[0] != old || all[1] != later {
		t.Errorf("%+v", all)
	}
	for _, bad := range []string{`[{"engine": "docker"}]`, `[{"engin": "docker"}]`, `{`} {
		if _, err := parse([]byte(bad)); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
}

func TestJudge(t *testing.T) {
	before := All
	defer func() { All = before }()
	All = func() []Entry {
		return []Entry{{Engine: "docker", Version: "20.10.24", Platform: "Debian 12"}, {Engine: "docker", Version: "26.1.5", Platform: "Debian 13"}, {Engine: "docker", Version: "28.5.2", Platform: "sid"}}
	}
	for _, c := range [][4]string{
		{"docker", "20.10.24+dfsg1", "Debian 12", "tested"},
		{"docker", "26.1.5", "Debian 12", "tested on Debian 13"},
		{"docker", "29.0.1", "Debian 13", "newer than any tested (28.5.2)"},
		{"docker", "19.3", "Debian 13", "older than any tested (20.10.24)"},
		{"docker", "27.0", "Debian 13", "not tested, which others are: 20.10.24, 26.1.5, 28.5.2"},
		{"podman", "5.4.2", "Debian 13", ""}, {"docker", "git", "Debian 13", ""},
	} {
		if got := Judge(c[0], c[1], c[2]); got != c[3] {
			t.Errorf("%v: %q", c, got)
		}
	}
}

func TestUntested(t *testing.T) {
	before := All
	defer func() { All = before }()
	All = func() []Entry {
		return []Entry{{Engine: "docker", Version: "26.1.5", Platform: "Debian 13"}, {Engine: "runc", Version: "1.1.5", Platform: "Debian 12"}, {Engine: "runc", Version: "1.1.15", Platform: "Debian 13"}}
	}
	docker, runc := Program{"docker", "29.0.1"}, Program{"runc", "1.1.15+ds1"}
	for _, c := range []struct {
		programs       []Program
		platform, want string
	}{
		{[]Program{runc}, "Debian 13", ""},
		{[]Program{runc}, "Debian 12", ""}, // another version of it was tested there
		{[]Program{runc, {"docker", "20.10"}, {"fake", "1"}}, "Debian 13", ""},
		{[]Program{docker, runc, docker}, "Debian 13", "docker 29.0.1 is newer than any tested (26.1.5)"},
		{[]Program{runc}, "Ubuntu", "Ubuntu is another platform than those tested (Debian 12, Debian 13)"},
		{[]Program{docker, runc}, "Ubuntu", "docker 29.0.1 is newer than any tested (26.1.5); Ubuntu is another platform than those tested (Debian 12, Debian 13)"},
		{[]Program{{"fake", "1"}}, "Ubuntu", ""}, {[]Program{runc}, "", ""},
	} {
		if got := Untested(c.programs, c.platform); got != c.want {
			t.Errorf("%v on %s: %q, want %q", c.programs, c.platform, got, c.want)
		}
	}
}

// TestDocs holds the tables of docs/engines.md and README.md to the embedded one.
func TestDocs(t *testing.T) {
	// What was tested in one place is a row.
	type place struct{ Platform, Kernel, Cgroup, Init, By string }
	passed, last := map[place][]string{}, map[place]string{}
	var places []place
	on := map[string][]string{}
	for _, e := range All() {
		at, p := place{e.Platform, e.Kernel, e.Cgroup, e.Init, e.By}, e.Engine+" "+e.Version
		if passed[at] == nil {
			places = append(places, at)
		}
		passed[at], last[at] = append(passed[at], p), max(last[at], e.Date)
		if !slices.Contains(on[e.Platform], p) {
			on[e.Platform] = append(on[e.Platform], p)
		}
	}
	all := "| on | control groups | init | by | last | passed |\n| --- | --- | --- | --- | --- | --- |\n"
	slices.SortStableFunc(places, func(a, b place) int { return strings.Compare(a.Platform, b.Platform) })
	for _, at := range places {
		all += fmt.Sprintf("| %s, Linux %s | %s | %s | %s | %s | %s |\n", at.Platform, at.Kernel, at.Cgroup, at.Init, at.By, last[at], strings.Join(passed[at], ", "))
	}
	short := "| platform | tested with |\n| --- | --- |\n"
	for _, platform := range slices.Sorted(maps.Keys(on)) {
		short += fmt.Sprintf("| %s | %s |\n", platform, strings.Join(on[platform], ", "))
	}
	for file, want := range map[string]string{"../../../docs/engines.md": all, "../../../README.md": short} {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		const begin, end = "<!-- tested: make tested -->\n", "<!-- end of tested -->"
		head, rest, ok := strings.Cut(string(text), begin)
		_, tail, closed := strings.Cut(rest, end)
		if !ok || !closed {
			t.Fatalf("%s has no block between %q and %q", file, begin, end)
		}
		golden.Check(t, file, head+begin+want+end+tail)
	}
}

func TestFrom(t *testing.T) {
	for _, c := range []struct {
		engine, version, runtime, below string
		want                            int
	}{
		{"docker", "26.1.5", "runc", "1.1.15", 2}, {"oci", "1.1.15", "runc", "1.1.15", 1}, {"lxc", "6.0.4", "lxc", "6.0.4", 1}, {"bubblewrap", "0.12.0", "", "", 1}, {"docker", "dev", "", "", 0},
	} {
		facts := map[string]string{"version": c.version, "runtime": c.runtime, "runtime-version": c.below}
		if got := From(c.engine, facts, Place{Platform: "Debian 13"}, "conformance", "2026-11-29"); len(got) != c.want {
			t.Errorf("%+v: %+v", c, got)
		}
	}
}
