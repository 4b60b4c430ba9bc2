package cli

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"plimsoll/internal/understand/words"
)

// No help is wider than the terminal but for what is pasted and for words that are; none
// of its words is lost, and without a terminal it is as it was written.
func TestHelpFits(t *testing.T) {
	help := func(width int, args ...string) string {
		var out bytes.Buffer
		w := terminal(width)
		w.Args, w.Stdin, w.Stdout, w.Stderr = slices.Concat(args, []string{"--help"}), strings.NewReader(""), &out, &out
		if status := Main(w); status != 0 {
			t.Fatalf("%v --help: status %d: %s", args, status, out.String())
		}
		return out.String()
	}
	commands := 0
	var walk func(c *cobra.Command, args []string)
	walk = func(c *cobra.Command, args []string) {
		commands++
		whole := help(0, args...)
		for _, width := range []int{60, 80} {
			narrow := help(width, args...)
			if strings.Join(strings.Fields(whole), " ") != strings.Join(strings.Fields(narrow), " ") {
				t.Fatalf("%v --help has other words in %d columns:\n%s", args, width, narrow)
			}
			examples := false
			for line := range strings.Lines(narrow) {
				line = strings.TrimRight(line, "\n")
				if line == "" || line == "Examples:" {
					examples = line != ""
				}
				if !examples && words.Width(line) > width && strings.Contains(strings.TrimSpace(line), "  ") {
					t.Errorf("%v --help in %d columns: %s", args, width, line)
				}
			}
		}
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() {
				walk(sub, append(append([]string(nil), args...), sub.Name()))
			}
		}
	}
	walk(tree(), nil)
	if commands < 30 {
		t.Errorf("only %d commands", commands)
	}
	if s := narrowed("Options:\n      --tuned                          put it back\n  -o, --output string                  where it goes", 40); s != "Options:\n      --tuned\n          put it back\n  -o, --output string\n          where it goes" {
		t.Error(s)
	}
}

// An error is broken between words where the terminal ends, and a command in a hint never.
func TestComplaintsFit(t *testing.T) {
	var errs bytes.Buffer
	w := terminal(40)
	w.ErrWidth = func() int { return 40 }
	w.Args, w.Stdin, w.Stdout, w.Stderr = []string{"run", "--engine", "dokcer"}, strings.NewReader(""), &errs, &errs
	if status := Main(w); status != int(Usage) {
		t.Errorf("status %d", status)
	}
	lines := strings.Split(strings.TrimSpace(errs.String()), "\n")
	for _, l := range lines {
		if words.Width(l) > 40 {
			t.Errorf("%d columns: %s", words.Width(l), l)
		}
	}
	if len(lines) < 4 || !strings.HasPrefix(lines[0], "plimsoll: --engine: no engine") || lines[len(lines)-1] != "  did you mean docker?" {
		t.Errorf("%s", errs.String())
	}
}
