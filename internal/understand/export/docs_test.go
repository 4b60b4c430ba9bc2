package export

import (
	"os"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
)

// docs/exports.md explains every format and every column.
func TestDocs(t *testing.T) {
	data, err := os.ReadFile("../../../docs/exports.md")
	require.NoError(t, err)
	words := Formats()
	for _, c := range fixed {
		words = append(words, c.name)
	}
	for _, w := range words {
		if !strings.Contains(string(data), "`"+w+"`") {
			t.Errorf("docs/exports.md does not explain %s", w)
		}
	}
}
