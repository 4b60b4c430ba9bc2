package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"plimsoll/internal/cli"
	"plimsoll/internal/common/require"
)

// walk visits the commands that have a page.
func walk(c *cobra.Command, do func(*cobra.Command)) {
	do(c)
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			walk(sub, do)
		}
	}
}

// Every command has a page with an example and all of its flags, and the
// formatter finds nothing to complain about.
func TestMan(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, man(dir, stamp{"1.2.3", time.Unix(1700000000, 0)}))
	groff, noGroff := exec.LookPath("groff")
	pages := 0
	walk(cli.Root(cli.World{}), func(c *cobra.Command) {
		pages++
		file := filepath.Join(dir, strings.ReplaceAll(c.CommandPath(), " ", "-")+".1")
		data, err := os.ReadFile(file)
		if err != nil {
			t.Error(err)
			return
		}
		if c.Example == "" || !strings.Contains(string(data), ".SH EXAMPLE") {
			t.Errorf("%s has no example", c.CommandPath())
		}
		if !strings.Contains(string(data), "1.2.3") || !strings.Contains(string(data), "Nov 2023") {
			t.Errorf("%s is not stamped", file)
		}
		plain := strings.ReplaceAll(string(data), `\-`, "-")
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if !strings.Contains(plain, "--"+f.Name) {
				t.Errorf("%s says nothing of --%s", file, f.Name)
			}
		})
		if noGroff != nil {
			return
		}
		if out, err := exec.Command(groff, "-man", "-ww", "-Tutf8", "-Kutf8", "-z", file).CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("groff on %s: %v\n%s", file, err, out)
		}
	})
	files, err := filepath.Glob(filepath.Join(dir, "*.1"))
	if err != nil || len(files) != pages || pages < 20 {
		t.Errorf("%d pages for %d commands: %v", len(files), pages, err)
	}
	if noGroff != nil {
		t.Skip("the pages are there; no groff to format them with (package groff-base)")
	}
}

// A help text's paragraphs may hold what Markdown takes for marks, and its
// indented lines stay lines.
func TestMarkdown(t *testing.T) {
	const in = "Keeps a_b_c and podman*.\n\nProfiles:\n  faas  *fast*\n  web   slow\n\nThe end [x](y)."
	const want = "Keeps a\\_b\\_c and podman\\*.\n\nProfiles:\n\n```\n  faas  *fast*\n  web   slow\n\n```\n\nThe end \\[x](y)."
	if got := markdown(in); got != want {
		t.Errorf("%q\nnot %q", got, want)
	}
}

// The shells that are here can read their completions.
func TestCompletions(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, completions(dir))
	for shell, file := range map[string]string{"bash": "plimsoll.bash", "zsh": "_plimsoll", "fish": "plimsoll.fish"} {
		t.Run(shell, func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join(dir, file))
			if err != nil || !strings.Contains(string(data), "__complete") {
				t.Fatalf("%s asks the program for nothing: %v", file, err)
			}
			path, err := exec.LookPath(shell)
			if err != nil {
				t.Skipf("no %s here to read it with", shell)
			}
			if out, err := exec.Command(path, "-n", filepath.Join(dir, file)).CombinedOutput(); err != nil || len(out) > 0 {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}
