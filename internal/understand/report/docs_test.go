package report

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestManualShowsRealTables: what docs/read-a-result.md shows is what the
// program prints, and it explains every remark that there is.
func TestManualShowsRealTables(t *testing.T) {
	manual, err := os.ReadFile("../../../docs/read-a-result.md")
	if err != nil {
		t.Fatal(err)
	}
	golden := ""
	for _, name := range []string{"typical.txt", "terminal-120.txt", "audit.txt", "protocols.txt", "overhead.txt", "factors.txt", "factors-confounded.txt"} {
		text, err := os.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		golden += string(text)
	}
	blocks := regexp.MustCompile("(?s)```text\n(.*?)\n```").FindAllStringSubmatch(string(manual), -1)
	if len(blocks) < 4 {
		t.Fatalf("only %d tables", len(blocks))
	}
	for _, b := range blocks {
		if !strings.Contains(golden, b[1]) {
			t.Errorf("not what is printed: copy it anew from the files in internal/understand/report/testdata that this test reads:\n%s", b[1])
		}
	}
	explained(t, string(manual), 15, "evaluate/remarks.go", "audit/remarks.go", "evaluate/programs.go", "../../record/reader.go")
}

// TestCompareManual: what docs/compare.md shows is what the program prints,
// and it explains every remark that there is.
func TestCompareManual(t *testing.T) {
	manual, err := os.ReadFile("../../../docs/compare.md")
	if err != nil {
		t.Fatal(err)
	}
	golden := ""
	for _, name := range []string{"changes.txt", "grouped.txt", "quantile.txt"} {
		text, err := os.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		golden += string(text)
	}
	for _, b := range regexp.MustCompile("(?s)```text\n(.*?)\n```").FindAllStringSubmatch(string(manual), -1) {
		if !strings.Contains(golden, b[1]) {
			t.Errorf("not what is printed: copy it anew from changes.txt or grouped.txt in internal/understand/report/testdata:\n%s", b[1])
		}
	}
	explained(t, string(manual), 9, "compare/remarks.go", "compare/grouping.go")
}

// explained demands that a manual names the codes of all remarks in these files
// of internal/understand/analyze, which have at least so many.
func explained(t *testing.T, manual string, least int, files ...string) {
	t.Helper()
	codes := 0
	for _, file := range files {
		source, err := os.ReadFile(filepath.Join("../analyze", file))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?:\badd\(|Code: )"([a-z-]+)"`).FindAllStringSubmatch(string(source), -1) {
			codes++
			if !strings.Contains(manual, "`"+m[1]+"`") {
				t.Errorf("remark %s is not explained", m[1])
			}
		}
	}
	if codes < least {
		t.Errorf("only %d remarks found in the source", codes)
	}
}
