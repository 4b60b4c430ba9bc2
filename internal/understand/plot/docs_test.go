package plot

import (
	"os"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
)

// TestDocs: the manual lists each chart with its sentence, and no other.
func TestDocs(t *testing.T) {
	b, err := os.ReadFile("../../../docs/pictures.md")
	require.NoError(t, err)
	for _, c := range Names() {
		if row := "| `" + c.Name + "` | " + c.What + " |"; !strings.Contains(string(b), row) {
			t.Errorf("docs/pictures.md lacks the row %s", row)
		}
	}
	if n := strings.Count(string(b), "\n| `"); n != len(Names()) {
		t.Errorf("docs/pictures.md has %d charts, not %d", n, len(Names()))
	}
}
