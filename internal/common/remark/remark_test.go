package remark

import (
	"os"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/common/golden"
	"plimsoll/internal/common/require"
)

// pages are the manual's tables of remarks: whose they are, and the head that
// stands once in a page.
var pages = map[string]struct {
	by   []string
	head string
}{
	"read-a-result.md": {[]string{Report, Record, Import, Plan}, "| code | says |\n|---|---|\n"},
	"compare.md":       {[]string{Compare}, "| remark | says |\n|---|---|\n"},
	"history.md":       {[]string{History}, "| remark | says |\n|---|---|\n"},
	"hosts.md":         {[]string{Hosts}, "| remark | says |\n|---|---|\n"},
	"findings.md":      {[]string{Findings}, "| code | says |\n|---|---|\n"},
	"advise.md":        {[]string{Advise}, "| remark | says |\n|---|---|\n"},
	"doctor.md":        {[]string{Doctor}, "| code | level | when |\n|---|---|---|\n"},
}

// TestManual: each table of remarks in the manual is made from the list.
func TestManual(t *testing.T) {
	shown := 0
	for name, p := range pages {
		page := "../../../docs/" + name
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		before, after, ok := strings.Cut(string(text), p.head)
		if !ok || strings.Contains(after, p.head) {
			t.Errorf("%s does not have the head %q once", name, p.head)
			continue
		}
		var table strings.Builder
		for _, k := range List {
			if !slices.Contains(p.by, k.By) {
				continue
			}
			shown++
			table.WriteString("| `" + k.Code + "` | ")
			if p.by[0] == Doctor {
				table.WriteString(k.Level + " | ")
			}
			table.WriteString(k.Says + " |\n")
		}
		for strings.HasPrefix(after, "|") {
			_, after, _ = strings.Cut(after, "\n")
		}
		golden.Check(t, page, before+p.head+table.String()+after)
	}
	if shown != len(List) {
		t.Errorf("%d of %d remarks stand in the manual", shown, len(List))
	}
}

func TestList(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range List {
		if key := k.By + " " + k.Code; seen[key] || k.Code == "" || k.Says == "" {
			t.Errorf("%+v is there twice, or says nothing", k)
		} else {
			seen[key] = true
		}
		if strings.ContainsAny(k.Says, "|\n") {
			t.Errorf("%s would break its table", k.Code)
		}
	}
	for code, want := range map[string]string{"cpu-pressure": "Pressure on the CPUs", "lines-missing": "Lines missing", "drift": "Drift", "": ""} {
		if got := Title(code); got != want {
			t.Errorf("%q has the title %q, want %q", code, got, want)
		}
	}
}
