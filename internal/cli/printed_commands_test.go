package cli

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"html"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/cobra"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/catalogue"
	"plimsoll/internal/measure/imagestore"
	"plimsoll/internal/measure/study"
	"plimsoll/internal/measure/workload"
	"plimsoll/internal/record/recordtest"
)

// pasted are the commands below a label, each with the lines that continue it, as a
// shell would read what is pasted.
var pasted = regexp.MustCompile(`(?m)^ *(?:\w+ +|\w+ \w+ {2,})?(plimsoll (?:.*\\\n)*.*)$`)

// What a screen prints to be pasted is one command each, and those that read do.
func TestScreenCommandsWork(t *testing.T) {
	for name, dir := range map[string]string{"quick": recordtest.Typical().Write(t), "suite": recordtest.Suite().Write(t), "audited": recordtest.Audited().Write(t)} {
		for _, width := range []int{50, 80, 120} {
			var out, errs bytes.Buffer
			w := terminal(width, "NO_COLOR=1")
			w.Args, w.Stdin, w.Stdout, w.Stderr = []string{"report", dir}, strings.NewReader(""), &out, &errs
			if status := Main(w); status != 0 {
				t.Fatalf("%s: status %d: %s", name, status, errs.String())
			}
			reading := 0
			for _, m := range pasted.FindAllStringSubmatch(out.String(), -1) {
				if n := len(parts(strings.ReplaceAll(m[1], "\\\n", " "))); n != 1 {
					t.Errorf("%s at %d columns: a shell reads %d commands in %s", name, width, n, m[1])
				}
				for _, words := range commandLines(m[1]) {
					if err := understood(words, true); err != nil {
						t.Errorf("%s at %d columns: plimsoll %q: %v", name, width, words, err)
					}
					if words[0] == "run" {
						continue
					}
					reading++
					if status, out, errs := drive(words...); width == 80 && (status != 0 || out == "") {
						t.Errorf("%s: plimsoll %q: status %d: %s", name, words, status, errs)
					}
				}
			}
			if reading < 2 || !strings.Contains(out.String(), "  Run again   plimsoll run ") {
				t.Errorf("%s at %d columns: %d commands that read in\n%s", name, width, reading, out.String())
			}
		}
	}
}

// The commands in all other formats, with the words around them, name commands and
// options that there are.
func TestFormatsNameCommands(t *testing.T) {
	dir := recordtest.Audited().Write(t)
	tags := regexp.MustCompile(`(?s)<script.*?</script>|<style.*?</style>|<[^>]*>`)
	found := 0
	other := recordtest.Typical().Write(t)
	for _, args := range [][]string{{"compare", other, dir}, {"compare", other, dir, "--format", "markdown"}, {"compare", other, dir, "--format", "json"},
		{"advise", other, "--profile", "faas"}, {"findings", other}, {"history", other, dir}, {"studies"}, {"workloads"}} {
		_, out, errs := drive(args...) // whatever its status: what it says names commands
		if out == "" && errs == "" {
			t.Errorf("%v says nothing", args)
		}
		n := 0
		for _, wrong := range misnamed(out+"\n"+errs, &n) {
			t.Errorf("%v: %s", args, wrong)
		}
		found += n
	}
	for _, args := range [][]string{{"--full"}, {"--format", "markdown"}, {"--format", "latex"}, {"--format", "json"}, {"--audit"}, {"--overhead"}, {"--format", "html"}} {
		path := filepath.Join(t.TempDir(), "out")
		if status, _, errs := drive(append([]string{"report", dir, "-o", path}, args...)...); status != 0 {
			t.Fatalf("%v: status %d: %s", args, status, errs)
		}
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		text := string(data)
		if args[len(args)-1] == "html" {
			text = html.UnescapeString(tags.ReplaceAllString(text, "\n"))
		}
		n := 0
		for _, wrong := range misnamed(text, &n) {
			t.Errorf("%v: %s", args, wrong)
		}
		found += n
	}
	if found < 5 {
		t.Errorf("only %d commands were found", found)
	}
}

// The examples of --help are whole commands.
func TestHelpExamples(t *testing.T) {
	examples := 0
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for line := range strings.Lines(c.Example) {
			// What stands far behind a command explains it.
			line = regexp.MustCompile(`\s{3,}.*`).ReplaceAllString(strings.TrimSpace(line), "")
			for _, words := range commandLines(line) {
				examples++
				if err := understood(words, true); err != nil {
					t.Errorf("%s --help: %s: %v", c.CommandPath(), line, err)
				}
			}
		}
		n := 0
		for _, wrong := range misnamed(c.Long+"\n"+c.Short+"\n"+c.Flags().FlagUsages(), &n) {
			t.Errorf("%s --help: %s", c.CommandPath(), wrong)
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(Root(System()))
	if examples < 60 {
		t.Errorf("only %d examples were found", examples)
	}
}

// Each text of the program that names a command, as hints of errors do, names one
// that there is, with options that it has.
func TestHintsNameCommands(t *testing.T) {
	found := 0
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		files := token.NewFileSet()
		f, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
				text, err := strconv.Unquote(l.Value)
				if err != nil {
					t.Error(err)
				}
				for _, wrong := range misnamed(text, &found) {
					t.Errorf("%s: %s", files.Position(l.Pos()), wrong)
				}
			}
			return true
		})
		return nil
	})
	require.NoError(t, err)
	if found < 100 {
		t.Errorf("only %d commands were found", found)
	}
}

var (
	mention = regexp.MustCompile("(?:^|[\\s`\"'(])plimsoll ((?:[a-z][a-z-]*|--[a-z-]+)[^\\n;`]*)")
	option  = regexp.MustCompile(`^--([a-z][a-z-]*)`)
)

// prose are words behind the program's name that are no command of it.
var prose = []string{"itself", "reads", "knows", "has", "said", "its", "failed", "as", "at", "that", "follows", "done", "touched", "does", "shows", "what"}

// tree is made once: it has engines in it.
var tree = sync.OnceValue(func() *cobra.Command {
	root := Root(System())
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	return root
})

// misnamed lists what of the commands in a text there is not, and counts them.
func misnamed(text string, count *int) (wrong []string) {
	root := tree()
	text = strings.ReplaceAll(text, "\\\n", " ")
	for _, m := range mention.FindAllStringSubmatch(text, -1) {
		words := strings.Fields(m[1])
		cmd, own := root, true
		for i, word := range words {
			if word == "--" || i > 0 && word == "plimsoll" {
				break // another command's
			}
			name := strings.Trim(word, ".,:'\"()")
			if o := option.FindStringSubmatch(word); o != nil {
				cmd.InitDefaultHelpFlag()
				cmd.InitDefaultVersionFlag()
				if cmd.Flags().Lookup(o[1]) == nil {
					wrong = append(wrong, "plimsoll "+m[1]+": "+cmd.CommandPath()+" has no --"+o[1])
				}
				continue
			}
			at := slices.IndexFunc(cmd.Commands(), func(c *cobra.Command) bool { return c.Name() == name })
			switch {
			case own && at >= 0:
				cmd = cmd.Commands()[at]
			case i == 0 && slices.Contains(prose, name):
			case i == 0:
				wrong = append(wrong, "plimsoll "+m[1]+": there is no command "+name)
			default:
				if own && plainName.MatchString(name) && !slices.Contains(prose, name) && !resolves(cmd.CommandPath(), name) {
					wrong = append(wrong, "plimsoll "+m[1]+": "+cmd.CommandPath()+" knows no "+name)
				}
				own = false
			}
			if strings.HasSuffix(word, ".") || strings.HasSuffix(word, ",") || i == 0 && at < 0 {
				break
			}
		}
		*count++
	}
	return wrong
}

// plainName is a name that is none of a placeholder, a path or a number.
var plainName = regexp.MustCompile(`^[a-z][a-z0-9-]*$`)

// resolves says whether what a command is told about is there: an image, a study, an
// engine, a workload. Behind run, plan and engines there is more often prose.
func resolves(command, name string) bool {
	switch command {
	case "plimsoll image build", "plimsoll image show", "plimsoll image sizes", "plimsoll image pull":
		_, err := imagestore.Describe(name)
		return err == nil
	case "plimsoll studies show":
		_, err := study.Find(name)
		return err == nil
	case "plimsoll workloads show":
		_, err := workload.Find(name)
		return err == nil
	case "plimsoll ablate", "plimsoll explain":
		return name == "all" || slices.ContainsFunc(catalogue.All(), func(e engine.Engine) bool { return e.Info().Name == name })
	}
	return true
}

func TestMisnamed(t *testing.T) {
	for text, want := range map[string]int{
		"plimsoll engines says why": 0, "try `plimsoll image build toolbox`": 0, "a newer plimsoll reads it": 0,
		"plimsoll run --resume %s --unlike": 0, "plimsoll rum": 1, "plimsoll report x --fulll": 1,
		"plimsoll image build toolbox --foo": 1, "plimsoll image build tolbox": 1, "plimsoll studies show quik": 1, "plimsoll workloads show redsi": 1,
		"plimsoll ablate dokcer": 1, "plimsoll engines NAME": 0, "plimsoll image build %s": 0, "plimsoll run -- ls --foo": 0,
	} {
		n := 0
		if got := misnamed(text, &n); len(got) != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}
