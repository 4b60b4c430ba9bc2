//go:build linux

package cli

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/understand/words"
)

// What commands print fits the terminal, but for words that are longer than a line,
// which a terminal breaks so that they are copied in one piece; and no word is lost.
func TestFitsTheTerminal(t *testing.T) {
	print := func(width int, args ...string) string {
		t.Helper()
		var out, errs bytes.Buffer
		w := offline(t.TempDir(), machine(), &out, &errs, args...)
		w.Width = func() int { return width }
		if args[0] == "studies" {
			w.Engines = nil // the bundled ones name those that there are
		}
		Main(w)
		if out.Len() == 0 {
			t.Fatalf("%v prints nothing: %s", args, errs.String())
		}
		return out.String()
	}
	for _, args := range [][]string{
		{"workloads"}, {"workloads", "show", "iperf3"}, {"engines"}, {"engines", "docker", "balena", "novel", "lxd"}, {"studies"},
		{"plan", "--seed", "1", "--image", "payload", "--", "/plimsoll-probe", "echo"}, {"image", "list"}, {"image", "show", "debian"}, {"doctor"},
	} {
		whole := allLetters(print(0, args...))
		for _, width := range []int{40, 80, 120} {
			text := print(width, args...)
			for line := range strings.Lines(text) {
				line = strings.TrimRight(line, "\n")
				if f := strings.Fields(line); words.Width(line) > width && words.Width(f[len(f)-1]) <= width/2 {
					t.Errorf("%v, %d columns: %d: %s", args, width, words.Width(line), line)
				}
			}
			if args[0] == "doctor" || args[0] == "engines" && len(args) == 1 || args[0] == "workloads" && len(args) == 1 && width < pipeWidth {
				continue // the machine changes; the wide table is cut; there are no parameters
			}
			if got := allLetters(text); got != whole {
				t.Errorf("%v, %d columns: something is lost:\n%s", args, width, text)
			}
		}
	}
}

// allLetters are those of a text in their order, however it is laid out.
func allLetters(text string) string {
	all := strings.Split(strings.Join(strings.Fields(text), ""), "")
	slices.Sort(all)
	return strings.Join(all, "")
}
