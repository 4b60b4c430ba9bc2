package cli

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll/internal/common/harmless"
	"plimsoll/internal/understand/document"
	"plimsoll/internal/understand/words"
)

// narrowHelp makes the help of all commands fit into a terminal. Pipes and files get
// it as it is written. It is written at once, for which Main sees whether that went well.
func narrowHelp(root *cobra.Command, w World) {
	help := root.HelpFunc()
	root.SetHelpFunc(func(c *cobra.Command, args []string) {
		width := 0
		if w.Width != nil {
			width = w.Width()
		}
		var b bytes.Buffer
		out := c.OutOrStdout()
		c.SetOut(&b)
		help(c, args)
		c.SetOut(out)
		text := b.String()
		if width > 0 {
			text = narrowed(text, width)
		}
		_, _ = io.WriteString(out, text)
	})
}

// described is a line of a list: a name or an option, and what it is.
var described = regexp.MustCompile(`^( *\S.*?  +)(\S.*)$`)

// explains is how far what explains an option is set in below it, where beside it there
// is no room.
const explains = 10

// narrowed breaks the lines of a help that are wider than a terminal: prose anew, lists
// below what they describe. Examples stay as they are, since they are pasted.
func narrowed(text string, width int) string {
	blocks := strings.Split(text, "\n\n")
	for i, b := range blocks {
		lines := strings.Split(b, "\n")
		if strings.HasPrefix(strings.TrimLeft(b, "\n"), "Examples:") || !slices.ContainsFunc(lines, func(l string) bool { return words.Width(l) > width }) {
			continue
		}
		if !slices.ContainsFunc(lines, func(l string) bool { return l == "" || strings.HasPrefix(l, " ") || described.MatchString(l) }) {
			blocks[i] = strings.Join(document.Wrap(b, width, ""), "\n")
			continue
		}
		blocks[i] = strings.Join(narrowList(lines, width), "\n")
	}
	return strings.Join(blocks, "\n\n")
}

// narrowList breaks the lines of a list.
func narrowList(lines []string, width int) (out []string) {
	lead := 0
	for _, l := range lines {
		if m := described.FindStringSubmatch(l); m != nil {
			lead = max(lead, words.Width(m[1]))
		}
	}
	for _, l := range lines {
		m := described.FindStringSubmatch(l)
		switch {
		case m != nil && lead > width/2:
			out = append(out, strings.TrimRight(m[1], " "))
			for _, t := range document.Wrap(m[2], width-explains, "") {
				out = append(out, strings.Repeat(" ", explains)+t)
			}
		case words.Width(l) <= width:
			out = append(out, l)
		case m != nil:
			for k, t := range document.Wrap(m[2], width-words.Width(m[1]), "") {
				if k == 0 {
					out = append(out, m[1]+t)
				} else {
					out = append(out, strings.Repeat(" ", words.Width(m[1]))+t)
				}
			}
		default:
			in := strings.Repeat(" ", len(l)-len(strings.TrimLeft(l, " ")))
			for _, t := range document.Wrap(l, width-len(in), "  ") {
				out = append(out, in+t)
			}
		}
	}
	return out
}

// complain writes an error and what to do about it. On a terminal its lines are broken
// between words; a hint with a command in it is not, since that may be pasted.
func complain(w World, err error, hint string) {
	width := 0
	if w.ErrWidth != nil {
		width = w.ErrWidth()
	}
	for _, line := range strings.Split(strings.TrimRight(err.Error(), "\n"), "\n") {
		line = statusPrefix + harmless.Text(line)
		if width > 0 && words.Width(line) > width && !strings.Contains(line, "  ") {
			line = strings.Join(document.Wrap(line, width, "  "), "\n")
		}
		fmt.Fprintln(w.Stderr, line)
	}
	if hint == "" {
		return
	}
	hint = "  " + harmless.Text(hint)
	if width > 2 && words.Width(hint) > width && !strings.Contains(hint, "plimsoll ") {
		hint = "  " + strings.Join(document.Wrap(hint, width-2, ""), "\n  ")
	}
	fmt.Fprintln(w.Stderr, hint)
}
