//go:build linux

package cli

import (
	"bytes"
	"fmt"
	"html"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/run"
	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
)

// printedStudy measures the simulated engine for a moment, with claims, and one of its
// environments fails at times.
const printedStudy = `plimsoll: 1
name: printed
protocol: {blocks: 2, warmup: 0}
workloads: [hello]
baselines: []
environments:
  - engine: fake
    runtime: [fast, slow]
claims:
  - id: printed/1
    says: All start within a minute.
    tests:
      - {of: {engine: fake, runtime: fast}, workload: hello, metric: startup, value: "< 60s"}
`

// Each command that is set off to be pasted, in every format and on every width, does
// what it says when a shell gets it: what reads is run, and what measures plans the run
// that is there, or is measured again where that takes a moment.
func TestPastedCommands(t *testing.T) {
	if testing.Short() {
		t.Skip("measures for seconds: left out with -short")
	}
	t.Chdir(t.TempDir())
	state := t.TempDir()
	require.NoError(t, os.WriteFile("a study.yaml", []byte(printedStudy), 0o600))
	measure := func(want []Status, args ...string) *record.Run {
		t.Helper()
		dir := args[len(args)-1]
		var out, errs bytes.Buffer
		w := terminal(80, "NO_COLOR=1", "PLIMSOLL_STATE="+state)
		w.Args, w.Stdin, w.Stdout, w.Stderr = args, strings.NewReader(""), &out, &errs
		w.LookPath = exec.LookPath
		if status := Main(w); !slices.Contains(want, Status(status)) {
			t.Fatalf("%q: status %d: %s", args, status, errs.String())
		}
		r, err := record.Open(dir)
		require.NoError(t, err)
		return r.Run()
	}
	quiet := []string{"--wait", "--force", "--progress", "none"}
	done := []Status{Done, SomeFailed}
	ran := measure(done, slices.Concat([]string{"run", "./a study.yaml", "--seed", "7"}, quiet, []string{"-o", "a run"})...)
	apart := measure(done, slices.Concat([]string{"ablate", "fake", "--mechanism", "network", "--blocks", "2", "--seed", "4"}, quiet, []string{"-d", "apart"})...)
	measured := map[string]*record.Run{"apart": apart}
	if os.Geteuid() == 0 { // the kernel makes namespaces for root alone
		measured["floored"] = measure(done, slices.Concat([]string{"floor", "--blocks", "2", "--rounds", "1", "--at-once", "1", "--mechanism", "process,uts-namespace", "--seed", "5"}, quiet, []string{"-d", "floored"})...)
		if crun, err := exec.LookPath("crun"); err == nil {
			measured["compared"] = measure(done, slices.Concat([]string{"ab", "crun", crun, byteLonger(t, crun), "--blocks", "2", "--seed", "6"}, quiet, []string{"-d", "compared"})...)
		} else {
			t.Log("crun is not installed: without what ab prints (the lab has it: lab/setup)")
		}
	}
	others := map[string]string{"typical": recordtest.Typical().Write(t), "audited": recordtest.Audited().Write(t), "suite": recordtest.Suite().Write(t)}

	p := pastes{t: t, done: map[string]bool{}, again: map[string][][]string{}, state: state, plans: map[string]string{"a run": ran.Protocol.Plan}}
	dirs := []string{"a run", others["typical"], others["audited"], others["suite"]}
	for _, dir := range slices.Concat(dirs, slices.Sorted(maps.Keys(measured))) {
		for _, flags := range [][]string{nil, {"--full"}, {"--audit"}, {"--format", "markdown"}, {"--format", "latex"}, {"--format", "json"}, {"--format", "html", "-o", filepath.Join(t.TempDir(), "page.html")}} {
			for _, width := range []int{50, 80, 120} {
				if width == 80 || flags == nil {
					p.of(dir, width, slices.Concat([]string{"report", dir}, flags)...)
				}
			}
		}
	}
	for _, args := range [][]string{
		{"findings", "a run"}, {"findings", "a run", "--format", "markdown"}, {"findings", "a run", "--format", "json"},
		{"history", "a run", others["typical"]}, {"compare", "a run", "a run"}, {"compare", others["typical"], others["audited"], "--format", "markdown"},
		{"advise", others["typical"], "--profile", "faas"}, {"advise", others["typical"], "--profile", "faas", "--format", "markdown"},
		{"studies"}, {"workloads"}, {"plan", "./a study.yaml"}, {"tune"}, {"floor", "--study"},
	} {
		p.of("", 80, args...)
	}
	if p.read < 9 || p.planned < 8 {
		t.Errorf("only %d commands that read and %d that measure were printed", p.read, p.planned)
	}
	for _, dir := range slices.Sorted(maps.Keys(measured)) {
		if len(p.again[dir]) != 1 {
			t.Errorf("the commands that measure %s again are %q", dir, p.again[dir])
			continue
		}
		was, again := measured[dir], measure(done, slices.Concat(p.again[dir][0], quiet, []string{"-d", dir + " again"})...)
		if again.Protocol.Plan != was.Protocol.Plan || again.Protocol.Seed != was.Protocol.Seed {
			t.Errorf("plimsoll %q does not measure the same again: seed %d, plan %s, not %d and %s", p.again[dir][0], again.Protocol.Seed, again.Protocol.Plan, was.Protocol.Seed, was.Protocol.Plan)
		}
	}
}

// pastes are commands that were printed, each tried once.
type pastes struct {
	t             *testing.T
	state         string
	plans         map[string]string // digests of the plans of records, by their directory
	done          map[string]bool
	read, planned int
	again         map[string][][]string // what measures the record of a directory again
}

// setOffs are the forms in which a command is set off from the text around it: a line of
// its own or behind a label or an arrow, code in Markdown and in sentences, code of a page,
// and a string of JSON.
var setOffs = []*regexp.Regexp{
	pasted,
	regexp.MustCompile(`(?m)^ *→ (plimsoll .*)$`),
	regexp.MustCompile("`(plimsoll [^`\\\\]+)\\\\?`"),
	regexp.MustCompile(`<(?:code|pre)[^>]*>(plimsoll [^<]+)<`),
	regexp.MustCompile(`"(plimsoll (?:[^"\\]|\\.)+)"`),
}

// placeholder stands for what a reader puts there.
var placeholder = regexp.MustCompile(`(?:^|[\s=])[A-Z]{2,}\b|…`)

// named is what has measured, which may begin a line: no command.
var named = regexp.MustCompile(`^plimsoll v?[0-9]`)

// of tries what a command prints: dir is the record that it is about.
func (p *pastes) of(dir string, width int, args ...string) {
	p.t.Helper()
	var out, errs bytes.Buffer
	w := terminal(width, "NO_COLOR=1", "PLIMSOLL_STATE="+p.state)
	w.Args, w.Stdin, w.Stdout, w.Stderr = args, strings.NewReader(""), &out, &errs
	if status := Main(w); status == int(Usage) || status == int(Failed) {
		p.t.Errorf("%q: status %d: %s", args, status, errs.String())
		return
	}
	text := out.String() + "\n" + errs.String()
	if i := slices.Index(args, "-o"); i >= 0 {
		data, err := os.ReadFile(args[i+1])
		if err != nil {
			p.t.Error(err)
		}
		text = string(data)
	}
	json, page := slices.Contains(args, "json"), slices.Contains(args, "html")
	for i, form := range setOffs {
		if json != (i == 4) && i > 1 || page != (i == 3) && i != 4 && page || !page && i == 3 {
			continue
		}
		for _, m := range form.FindAllStringSubmatch(text, -1) {
			line := m[1]
			switch {
			case page:
				line = html.UnescapeString(line)
			case json:
				line = strings.NewReplacer(`\"`, `"`, `\\`, `\`, `\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(line)
			}
			p.paste(dir, args, line)
		}
	}
}

// shellReads gives the words of the one command that a shell reads in a line.
func shellReads(line string) ([]string, error) {
	out, err := exec.Command("sh", "-c", `plimsoll() { printf '%s\0' "$@" '|'; }; `+line).Output()
	if err != nil {
		return nil, err
	}
	words := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	if n := slices.Index(words, "|"); n < 1 || n != len(words)-1 {
		return nil, fmt.Errorf("not one command: %q", words)
	}
	return words[:len(words)-1], nil
}

// paste tries one command.
func (p *pastes) paste(dir string, by []string, line string) {
	line = strings.ReplaceAll(line, "\\\n", " ")
	key := dir + "\x00" + strings.Join(strings.Fields(line), " ")
	if p.done[key] {
		return
	}
	p.done[key] = true
	n := 0
	for _, wrong := range misnamed(line, &n) {
		p.t.Errorf("%q prints: %s", by, wrong)
	}
	if placeholder.MatchString(line) || named.MatchString(line) {
		return
	}
	words, err := shellReads(line)
	if err != nil {
		p.t.Errorf("%q prints %s, of which a shell makes: %v", by, line, err)
		return
	}
	if err := understood(words, true); err != nil {
		p.t.Errorf("%q prints plimsoll %q: %v", by, words, err)
		return
	}
	switch words[0] {
	case "run":
		p.planned++
		want := p.plans[dir]
		if want == "" { // a record that was made up: its command plans a run of the study
			return
		}
		if o := p.plan(words[1:]...); o.Run.Protocol.Plan != want || o.Plan.Protocol.Seed != 7 {
			p.t.Errorf("%q prints plimsoll %q, which plans another run than that of the record", by, words)
		}
	case "ablate", "floor", "ab":
		if by[0] == "report" && slices.Contains([]string{"apart", "floored", "compared"}, dir) {
			p.planned++
			p.again[dir] = append(p.again[dir], words)
		}
	case "explain":
		p.planned++
		p.explained(by, words[1:])
	case "tune": // what it would measure; to measure sets the machine's own switches
		p.planned++
		if slices.Contains(words, "--measure") && !slices.Contains(words, "--study") {
			words = append(words, "--study")
		}
		if status, out, errs := drive(words...); (status != int(Done) || out == "") && status != int(NothingHere) {
			p.t.Errorf("%q prints plimsoll %q: status %d: %s", by, words, status, errs)
		}
	case "features", "selftest", "bisect", "image", "clean":
		// Read only as far as their arguments: features tries each engine's commands for
		// minutes, selftest has hundreds of blocks, bisect builds a runtime from a repository,
		// image builds or fetches for minutes, and clean would remove what a test that runs
		// beside this one still needs. Each has a test of its own on real engines.
		p.planned++
	default:
		p.read++
		if status, out, errs := drive(words...); out == "" || status == int(Usage) || status == int(Failed) {
			p.t.Errorf("%q prints plimsoll %q: status %d: %s", by, words, status, errs)
		}
	}
}

// plan plans a run as its command says.
func (p *pastes) plan(args ...string) *run.Options {
	p.t.Helper()
	var said bytes.Buffer
	w := terminal(0, "PLIMSOLL_STATE="+p.state)
	w.Stdin, w.Stdout, w.Stderr, w.LookPath = strings.NewReader(""), &said, &said, exec.LookPath // explain may be of a runtime
	_, o, _ := begunIn(p.t, w, args)
	return o
}

// explained plans the environment that explain is told to follow, with its levels: one
// that is not there is an error, and one that is not here is left out with its reason.
func (p *pastes) explained(by, words []string) {
	p.t.Helper()
	levels := "engine: " + words[0]
	for _, w := range words[1:] {
		name, level, _ := strings.Cut(w, "=")
		levels += fmt.Sprintf(", %s: %q", name, level)
	}
	study := "plimsoll: 1\nname: explained\nbaselines: []\nworkloads: [hello]\nenvironments:\n  - {" + levels + "}\n"
	if err := os.WriteFile("explained.yaml", []byte(study), 0o600); err != nil {
		p.t.Fatal(err)
	}
	if o := p.plan("./explained.yaml"); len(o.Plan.Environments)+len(o.Plan.Excluded) == 0 {
		p.t.Errorf("%q prints plimsoll explain %q, which follows nothing", by, words)
	}
}

// byteLonger is a build that does what another does, and is told from it: a byte more
// behind it, which nobody reads.
func byteLonger(t *testing.T, program string) string {
	t.Helper()
	data, err := os.ReadFile(program)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "crun")
	require.NoError(t, os.WriteFile(path, append(data, 0), 0o755)) //nolint:gosec // a program
	return path
}
