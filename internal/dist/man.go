package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"

	"plimsoll/internal/cli"
)

// man writes a page for each command into dir.
func man(dir string, s stamp) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	root := cli.Root(cli.World{})
	forMan(root)
	return doc.GenManTree(root, &doc.GenManHeader{
		Section: "1", Date: &s.time, Source: "plimsoll " + s.version, Manual: "Plimsoll",
	}, dir)
}

// forMan readies a tree of commands for cobra's generator, which takes texts
// for Markdown and says of a flag's value only the default.
func forMan(c *cobra.Command) {
	c.DisableAutoGenTag = true
	c.Long = markdown(c.Long)
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

// markdown fences the indented lines of a help text, which are tables and
// examples, and escapes the others.
func markdown(text string) string {
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
