package report

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
)

// TestManualShowsRealTables: what docs/read-a-result.md shows is what the
// program prints.
func TestManualShowsRealTables(t *testing.T) {
	manual, err := os.ReadFile("../../../docs/read-a-result.md")
	require.NoError(t, err)
	golden := ""
	for _, name := range []string{"screen-3-1-80.txt", "typical.txt", "terminal-120.txt", "audit.txt", "protocols.txt", "overhead.txt", "factors.txt", "factors-confounded.txt"} {
		text, err := os.ReadFile("testdata/" + name)
		require.NoError(t, err)
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
}

// TestCompareManual: what docs/compare.md shows is what the program prints.
func TestCompareManual(t *testing.T) {
	manual, err := os.ReadFile("../../../docs/compare.md")
	require.NoError(t, err)
	golden := ""
	for _, name := range []string{"changes.txt", "grouped.txt", "quantile.txt"} {
		text, err := os.ReadFile("testdata/" + name)
		require.NoError(t, err)
		golden += string(text)
	}
	for _, b := range regexp.MustCompile("(?s)```text\n(.*?)\n```").FindAllStringSubmatch(string(manual), -1) {
		if !strings.Contains(golden, b[1]) {
			t.Errorf("not what is printed: copy it anew from changes.txt or grouped.txt in internal/understand/report/testdata:\n%s", b[1])
		}
	}
}
