package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"plimsoll/internal/cli/manpages"
	"plimsoll/internal/common/require"
)

// walkPages visits the commands that have a page.
func walkPages(c *cobra.Command, do func(*cobra.Command)) {
	do(c)
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			walkPages(sub, do)
		}
	}
}

// Every command has a page with an example and all of its flags, and the
// formatter finds nothing to complain about.
func TestMan(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, manpages.Pages(dir, Root(World{}), "1.2.3", time.Unix(1700000000, 0)))
	groff, noGroff := exec.LookPath("groff")
	pages := 0
	walkPages(Root(World{}), func(c *cobra.Command) {
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
	})
	files, err := filepath.Glob(filepath.Join(dir, "*.1"))
	if err != nil || len(files) != pages || pages < 20 {
		t.Errorf("%d pages for %d commands: %v", len(files), pages, err)
	}
	if noGroff == nil { // once for all pages: it says which one it complains of
		if out, err := exec.Command(groff, append([]string{"-man", "-ww", "-Tutf8", "-Kutf8", "-z"}, files...)...).CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("groff: %v\n%s", err, out)
		}
	} else {
		t.Skip("the pages are there; no groff to format them with (package groff-base)")
	}
}

// A help text's paragraphs may hold what Markdown takes for marks, and its
// indented lines stay lines.
func TestMarkdown(t *testing.T) {
	const in = "Keeps a_b_c and podman*.\n\nProfiles:\n  faas  *fast*\n  web   slow\n\nThe end [x](y)."
	const want = "Keeps a\\_b\\_c and podman\\*.\n\nProfiles:\n\n```\n  faas  *fast*\n  web   slow\n\n```\n\nThe end \\[x](y)."
	if got := manpages.Markdown(in); got != want {
		t.Errorf("%q\nnot %q", got, want)
	}
}

// The shells that are here can read their completions.
func TestCompletions(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, manpages.Completions(dir, func() *cobra.Command { return Root(World{}) }))
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
