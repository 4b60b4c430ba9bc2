//go:build linux

package cli

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
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
		whole := print(0, args...)
		for _, width := range []int{40, 80, 120} {
			text := print(width, args...)
			for line := range strings.Lines(text) {
				line = strings.TrimRight(line, "\n")
				if f := strings.Fields(line); words.Width(line) > width && words.Width(f[len(f)-1]) <= width/2 {
					t.Errorf("%v, %d columns: %d: %s", args, width, words.Width(line), line)
				}
			}
			if args[0] == "workloads" && len(args) == 1 && width < pipeWidth { // there are no parameters
				list, _, _ := strings.Cut(text, "\n\n") // what comes below says where these are
				for w := range strings.FieldsSeq(list) {
					if width < roomy && !slices.Contains(strings.Fields(whole), w) {
						t.Errorf("%v, %d columns: %q is no word:\n%s", args, width, w, text)
					}
				}
				continue
			}
			if args[0] == "doctor" || args[0] == "engines" && len(args) == 1 {
				continue // the machine changes; the wide table is cut
			}
			if allLetters(text) != allLetters(whole) {
				t.Errorf("%v, %d columns: something is lost:\n%s", args, width, text)
			}
			if width < roomy && !slices.Equal(allWords(text), allWords(whole)) {
				t.Errorf("%v, %d columns: a word is broken:\n%s", args, width, text)
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

// allWords are those of a text, however it is laid out.
func allWords(text string) []string { return slices.Sorted(strings.FieldsSeq(text)) }

// A table has columns as long as they can be read, and else no word is broken, nor does a
// word stand alone on each line.
func TestTableFits(t *testing.T) {
	const table = "STUDY\tBLOCKS\tWHAT IT IS\narleskog2023\t10\tCRI-O and containerd, with a view to the network (Arleskog and Ekstrom, 2023)\n\t100\tone process\n"
	for width, want := range map[int]string{
		100: "STUDY         BLOCKS  WHAT IT IS\n" +
			"arleskog2023  10      CRI-O and containerd, with a view to the network (Arleskog and Ekstrom, 2023)\n" +
			"              100     one process\n",
		60: "STUDY         BLOCKS  WHAT IT IS\n" +
			"arleskog2023  10      CRI-O and containerd, with a view to\n" +
			"                      the network (Arleskog and Ekstrom,\n" +
			"                      2023)\n" +
			"              100     one process\n",
		40: "STUDY  BLOCKS  WHAT IT IS\n" +
			"arleskog2023  10\n" +
			"    CRI-O and containerd, with a view to\n" +
			"      the network (Arleskog and Ekstrom,\n" +
			"      2023)\n" +
			"  100  one process\n",
		24: "STUDY  BLOCKS\n" +
			"    WHAT IT IS\n" +
			"arleskog2023  10\n" +
			"    CRI-O and\n" +
			"      containerd, with a\n" +
			"      view to the\n" +
			"      network (Arleskog\n" +
			"      and Ekstrom, 2023)\n" +
			"  100  one process\n",
	} {
		var out bytes.Buffer
		tw := columnsOn(&paper{out: &out, width: width})
		_, err := tw.Write([]byte(table))
		require.NoError(t, err)
		require.NoError(t, tw.Flush())
		if got := out.String(); got != want {
			t.Errorf("%d columns:\n%s", width, got)
		}
	}
	// As broken as it may be: a word without room for it stays in one piece.
	if got := stacked([]string{"a", "podman/crun/overlay/rootless/network-host"}, 20); !slices.Equal(got, []string{"a", "    podman/crun/overlay/rootless/network-host"}) {
		t.Errorf("%q", got)
	}
}
