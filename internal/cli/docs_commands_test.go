package cli

import (
	"io"
	"os"
	"regexp"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
)

var (
	inline  = regexp.MustCompile("`([^`\n]+)`")
	targets = regexp.MustCompile(`(?m)^([a-z][a-z -]*):`)
)

// Every command line of the manual is one that the program takes: its commands
// and flags are there, its flags' values are read, and in whole lines of code
// the number of arguments is right. Those of the tutorials are run as well.
func TestDocumentedCommands(t *testing.T) {
	lines, names := 0, 0
	for _, path := range manual(t) {
		for _, f := range fences(t, path) {
			if f.lang != "sh" && f.lang != "" {
				continue
			}
			for _, words := range commandLines(f.text) {
				lines++
				if err := understood(words, true); err != nil {
					t.Errorf("%s:%d: plimsoll %s: %v", path, f.line, strings.Join(words, " "), err)
				}
			}
		}
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		if strings.HasSuffix(path, "/probe.md") {
			continue // the lines that the probe writes begin with the same word
		}
		for _, m := range inline.FindAllStringSubmatch(string(data), -1) {
			for _, words := range commandLines(m[1]) {
				names++
				if err := understood(words, false); err != nil {
					t.Errorf("%s: plimsoll %s: %v", path, strings.Join(words, " "), err)
				}
			}
		}
	}
	if lines < 40 || names < 40 {
		t.Errorf("only %d lines and %d commands in sentences were found", lines, names)
	}
}

// Every `make TARGET` of the manual, of CONTRIBUTING.md and of CI is in the Makefile, and every
// `make test-PART` in tools/test.
func TestDocumentedTargets(t *testing.T) {
	makefile, err := os.ReadFile("../../Makefile")
	require.NoError(t, err)
	script, err := os.ReadFile("../../tools/test")
	require.NoError(t, err)
	ci, err := os.ReadFile("../../.ci/run")
	require.NoError(t, err)
	there := map[string]bool{}
	for _, m := range targets.FindAllStringSubmatch(string(makefile), -1) {
		for name := range strings.FieldsSeq(m[1]) {
			there[name] = !strings.HasPrefix(name, "test-")
		}
	}
	for _, m := range regexp.MustCompile(`(?m)^([a-z-]+)\)`).FindAllStringSubmatch(string(script), -1) {
		there["test-"+m[1]] = true
	}
	named := regexp.MustCompile(`^(?:[A-Z_]+=\S+ )*make ([a-z][a-z-]*)`)
	lines := map[string][]string{".ci/run": strings.Split(string(ci), "\n")}
	for _, path := range append(manual(t), "../../CONTRIBUTING.md") {
		lines[path] = codeLines(t, path)
	}
	found := map[bool]int{}
	for path, of := range lines {
		for _, line := range of {
			if m := named.FindStringSubmatch(line); m != nil {
				if found[path == ".ci/run"]++; !there[m[1]] {
					t.Errorf("%s: make has no target %s", path, m[1])
				}
			}
		}
	}
	if found[true] < 4 || found[false] < 25 {
		t.Errorf("only %v targets were found (true: in .ci/run)", found)
	}
}

// codeLines are the lines of a page's code and the code within its sentences.
func codeLines(t *testing.T, path string) []string {
	var out []string
	for _, f := range fences(t, path) {
		out = append(out, strings.Split(f.text, "\n")...)
	}
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	for _, m := range inline.FindAllStringSubmatch(string(data), -1) {
		out = append(out, m[1])
	}
	return out
}

// commandLines are the arguments of each plimsoll in a piece of shell.
func commandLines(text string) [][]string {
	var out [][]string
	text = strings.ReplaceAll(text, "\\\n", " ")
	for line := range strings.Lines(text) {
		for _, part := range parts(line) {
			words := shellWords(part)
			if len(words) > 0 && (words[0] == "plimsoll" || words[0] == "bin/plimsoll") {
				out = append(out, words[1:])
			}
		}
	}
	return out
}

// parts cuts a line of shell into its commands.
func parts(line string) []string {
	line, _, _ = strings.Cut(" "+line, " #")
	return regexp.MustCompile(`&&|\|\|?|;`).Split(line, -1)
}

// shellWords splits a command; redirections are left out.
func shellWords(s string) []string {
	var out []string
	for _, m := range regexp.MustCompile(`"([^"]*)"|'([^']*)'|\S*\$\([^)]*\)\S*|\S+`).FindAllStringSubmatch(s, -1) {
		w := m[0]
		switch {
		case strings.ContainsAny(w[:1], `"'`):
			w = m[1] + m[2]
		case strings.ContainsAny(w, "<>"):
			return out
		}
		out = append(out, w)
	}
	return out
}

// understood says what the program would find wrong with the words alone.
func understood(words []string, whole bool) error {
	w := System()
	w.Stdout, w.Stderr = io.Discard, io.Discard
	root := Root(w)
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	cmd, rest, err := root.Find(words)
	if err != nil {
		return err
	}
	cmd.InitDefaultHelpFlag()
	if err := cmd.ParseFlags(rest); err != nil {
		return err
	}
	help, _ := cmd.Flags().GetBool("help")
	// A word after a command that has others below it may be a slip in one.
	if help || !whole && (!cmd.HasSubCommands() || cmd.Flags().NArg() == 0) {
		return nil
	}
	return cmd.ValidateArgs(cmd.Flags().Args())
}

func TestUnderstood(t *testing.T) {
	for text, want := range map[string]bool{
		"plimsoll run quick --engine docker,podman --blocks 3 -o 'a b'": true,
		"plimsoll selftest --format json >noise.json":                   true,
		"plimsoll workloads redis --try docker":                         true,
		"plimsoll rum quick":                                            false,
		"plimsoll run --block 3":                                        false,
		"plimsoll run --blocks three":                                   false,
		"plimsoll run one two":                                          false,
		"plimsoll report --format word DIR":                             false,
		"plimsoll image shwo busybox":                                   false,
	} {
		words := commandLines(text)
		if len(words) != 1 {
			t.Fatalf("%s: %q", text, words)
		}
		if err := understood(words[0], true); (err == nil) != want {
			t.Errorf("%s: %v", text, err)
		}
	}
}
