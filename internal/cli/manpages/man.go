// Package manpages writes what a release says of a tree of commands beside the
// program: man pages and completions. It is given the tree, so that its tests are
// the command line's (internal/cli) and link that once.
package manpages

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"
)

// Pages writes a man page for each command into dir, stamped with a version and its time.
func Pages(dir string, root *cobra.Command, version string, at time.Time) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	forMan(root)
	return doc.GenManTree(root, &doc.GenManHeader{
		Section: "1", Date: &at, Source: "plimsoll " + version, Manual: "Plimsoll",
	}, dir)
}

// forMan readies a tree of commands for cobra's generator, which takes texts
// for Markdown and says of a flag's value only the default.
func forMan(c *cobra.Command) {
	c.DisableAutoGenTag = true
	c.Long = Markdown(c.Long)
	c.Short = escape(c.Short)
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		f.Usage = escape(f.Usage)
		if words := f.Value.Type(); strings.Contains(words, "|") {
			f.Usage += fmt.Sprintf(" (%s)", strings.ReplaceAll(words, "|", ", "))
		}
	})
	for _, sub := range c.Commands() {
		forMan(sub)
	}
}

var escape = strings.NewReplacer(`\`, `\\`, "*", `\*`, "_", `\_`, "<", `\<`, "`", "\\`", "[", `\[`).Replace

// Markdown fences the indented lines of a help text, which are tables and
// examples, and escapes the others.
func Markdown(text string) string {
	var b strings.Builder
	fenced := false
	for line := range strings.Lines(text) {
		if table := strings.HasPrefix(line, "  "); table != fenced {
			b.WriteString("\n```\n")
			fenced = table
		}
		if !fenced {
			line = escape(line)
		}
		b.WriteString(line)
	}
	if fenced {
		b.WriteString("\n```\n")
	}
	return b.String()
}
