package cli

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// Other systems answer for every command that measures, and only for those.
func TestMeasuringElsewhere(t *testing.T) {
	data, err := os.ReadFile("commands_other.go")
	if err != nil {
		t.Fatal(err)
	}
	list := regexp.MustCompile(`\[\]string\{(.*?)\}`).FindSubmatch(data)
	if list == nil {
		t.Fatal("commands_other.go has no list of commands")
	}
	var names []string
	for _, c := range measuring(World{}) {
		names = append(names, `"`+c.Name()+`"`)
	}
	if want := strings.Join(names, ", "); string(list[1]) != want {
		t.Errorf("commands_other.go answers for %s, and what measures is %s", list[1], want)
	}
}
