//go:build linux

package host

import (
	"os"
	"regexp"
	"slices"
	"testing"
)

// Every code of Doctor's has its row in the manual and occurs in the source;
// the manual has no other.
func TestEveryCodeIsDocumented(t *testing.T) {
	text, err := os.ReadFile("../../../docs/doctor.md")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile("(?m)^\\| `([a-z0-9-]+)` \\|").FindAllSubmatch(text, -1)
	rows := make([]string, 0, len(found))
	for _, m := range found {
		rows = append(rows, string(m[1]))
	}
	if !slices.Equal(rows, Codes) {
		t.Errorf("the manual has\n%q, the list of codes\n%q", rows, Codes)
	}
	if !slices.IsSorted(Codes) {
		t.Error("the list of codes is not sorted")
	}
}
