package cli

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
)

// Other systems answer for every command that measures, and only for those: some are
// there by the engines' interfaces, and the others say that they are not.
func TestMeasuringElsewhere(t *testing.T) {
	data, err := os.ReadFile("commands_other.go")
	require.NoError(t, err)
	var names []string
	for _, c := range regexp.MustCompile(`(\w+)ByInterface\(w\)`).FindAllSubmatch(data, -1) {
		names = append(names, string(c[1]))
	}
	list := regexp.MustCompile(`\[\]string\{"(.*?)"\}`).FindSubmatch(data)
	if list == nil || len(names) == 0 {
		t.Fatal("commands_other.go has no list of commands")
	}
	names = append(names, strings.Split(string(list[1]), `", "`)...)
	var want []string
	for _, c := range measuring(World{}) {
		want = append(want, c.Name())
	}
	slices.Sort(names)
	slices.Sort(want)
	if !slices.Equal(names, want) {
		t.Errorf("commands_other.go answers for %s, and what measures is %s", names, want)
	}
}
