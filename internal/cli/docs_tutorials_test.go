package cli

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
)

// TestTutorials does what the tutorials say, on the engines of this machine:
// each ```sh block is a script of a shell that ends at the first command that
// fails, begun in the directory where the block above it ended, and the words of
// a ```text block below it must be in what came out. Numbers are not compared, nor
// is their order; a line "status N" is.
//
// What a page says to the test stands in it, where readers of the file see it:
//
//	<!-- example: needs root, docker, runc -->       else the page is left out
//	<!-- example: tested with --blocks 2 -->         flags added to each plimsoll run of the next block
//	<!-- example: not run: it takes an hour -->      the next block is only read
//	<!-- example: may differ: first, leads -->       words of the next block that may be missing
func TestTutorials(t *testing.T) {
	if testing.Short() {
		t.Skip("measures engines: left out with -short")
	}
	pages, err := filepath.Glob("../../docs/tutorials/*.md")
	if err != nil || len(pages) < 5 {
		t.Fatalf("%d tutorials: %v", len(pages), err)
	}
	state := filepath.Join(t.TempDir(), "state")
	for _, path := range pages {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".md"), func(t *testing.T) {
			all := fences(t, path)
			s := newShell(t, state)
			s.needs(path)
			for i, f := range all {
				if f.lang == "sh" {
					s.follow(path, f, all[i+1:])
				} else if f.lang == "text" && (i == 0 || all[i-1].lang != "sh") {
					t.Errorf("%s:%d: no command stands above this output", path, f.line)
				}
			}
			if s.ran == 0 {
				t.Errorf("%s: no command of it was run", path)
			}
		})
	}
}

// shell is somebody who follows a tutorial.
type shell struct {
	*subject
	bin string
	at  string // where the next block begins
	ran int
}

// wrapper waits its turn where another Plimsoll measures, and adds what a
// block is tested with.
const wrapper = `#!/bin/sh
case "$* " in
"run "*) exec '%[1]s' "$@" --wait $PLIMSOLL_TESTED_WITH ;;
"ab "*|"selftest "*|*" --try "*) exec '%[1]s' "$@" --wait ;;
*) exec '%[1]s' "$@" ;;
esac
`

func newShell(t *testing.T, state string) *shell {
	t.Helper()
	real, err := exec.LookPath("plimsoll") // TestMain has put it there
	require.NoError(t, err)
	dir := t.TempDir()
	s := &shell{subject: &subject{t: t, dir: filepath.Dir(state)}, bin: filepath.Join(dir, "bin")}
	require.NoError(t, os.MkdirAll(s.bin, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(s.bin, "plimsoll"), fmt.Appendf(nil, wrapper, real), 0o755))
	s.out = filepath.Join(dir, "work")
	require.NoError(t, os.MkdirAll(s.out, 0o755))
	s.at = s.out
	return s
}

// needs leaves the page out where this machine has not what it is about.
func (s *shell) needs(path string) {
	s.t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		s.t.Fatal(err)
	}
	set, err := newSetting(s.world())
	if err != nil {
		s.t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		m := exampleNote.FindStringSubmatch(line)
		if m == nil || !strings.HasPrefix(m[1], "needs ") {
			continue
		}
		for _, need := range strings.Split(strings.TrimPrefix(m[1], "needs "), ", ") {
			if why := s.lacks(set, need); why != "" {
				s.t.Skipf("it needs %s: %s", need, why)
			}
		}
	}
}

// lacks says why root, an engine or a program is not here.
func (s *shell) lacks(set *setting, need string) string {
	if need == "root" {
		if os.Geteuid() != 0 {
			return "this is not root"
		}
		return ""
	}
	if !slices.ContainsFunc(set.engines, func(e engine.Engine) bool { return e.Info().Name == need }) {
		if _, err := exec.LookPath(need); err != nil {
			return err.Error()
		}
		return ""
	}
	why := "it was not found"
	for _, f := range set.detect(context.Background(), need) {
		if f.Usable {
			return ""
		}
		why = f.Reason
	}
	return why
}

// follow runs a block, and holds what came out against the output below it.
func (s *shell) follow(path string, f fence, below []fence) {
	s.t.Helper()
	if why, not := f.note("not run:"); not {
		s.t.Logf("%s:%d: not run: %s", path, f.line, why)
		return
	}
	flags, _ := f.note("tested with")
	ctx, cancel := context.WithTimeout(s.t.Context(), 5*time.Minute)
	defer cancel()
	went := filepath.Join(filepath.Dir(s.out), "went")
	cmd := exec.CommandContext(ctx, "sh", "-euc", f.text+`pwd >"$PLIMSOLL_TESTED_WENT"`)
	cmd.Dir = s.at
	cmd.Env = append(s.env(), "PATH="+s.bin+":"+os.Getenv("PATH"), "PLIMSOLL_TESTED_WITH="+flags, "PLIMSOLL_TESTED_WENT="+went, "NO_COLOR=1")
	// Interrupted it cleans up: the whole group, for it is the shell's child.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
	cmd.WaitDelay = 30 * time.Second
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	begin := time.Now()
	err := cmd.Run()
	s.ran++
	s.t.Logf("%s:%d: %.1f s", path, f.line, time.Since(begin).Seconds())
	if err != nil {
		s.t.Fatalf("%s:%d: %v\n%s\n%s", path, f.line, err, f.text, said.String())
	}
	at, err := os.ReadFile(went)
	require.NoError(s.t, err)
	s.at = strings.TrimSpace(string(at))
	if len(below) == 0 || below[0].lang != "text" {
		return
	}
	shown := below[0]
	free, _ := shown.note("may differ:")
	missing, compared := lacking(shown.text, said.String(), strings.Split(free, ", "))
	if len(missing) > 0 {
		s.t.Errorf("%s:%d: %q is shown and did not come out:\n%s", path, shown.line, missing, said.String())
	}
	if compared < 3 {
		s.t.Errorf("%s:%d: the output shown has %d words to compare", path, shown.line, compared)
	}
}

// lacking gives the words of what is shown that are not in what was said, and
// how many were looked for.
func lacking(shown, said string, free []string) (missing []string, compared int) {
	there := map[string]bool{}
	for line := range strings.Lines(said) {
		for _, w := range wordsOf(line) {
			there[w] = true
		}
	}
	for line := range strings.Lines(shown) {
		for _, w := range wordsOf(line) {
			if slices.Contains(free, w) {
				continue
			}
			compared++
			if !there[w] && !slices.Contains(missing, w) {
				missing = append(missing, w)
			}
		}
	}
	return missing, compared
}

// letters are those of a ranking's groups.
var letters = regexp.MustCompile(`^([a-z]-[a-z]|abc|bcd|cde|def)$`)

// wordsOf are those of a line that do not depend on what was measured: without a
// digit and of three letters or more. An exit status is one.
func wordsOf(line string) []string {
	if strings.HasPrefix(line, "status ") {
		return []string{strings.TrimSpace(line)}
	}
	var out []string
	for _, w := range strings.Fields(line) {
		w = strings.Trim(w, ".,:;()[]\"'`")
		if slices.Contains([]string{"KiB", "MiB", "GiB", "µs"}, w) || strings.Contains(w, "--") || letters.MatchString(w) {
			continue // as large as it came out, and isolated as the machine allows
		}
		if len(w) >= 3 && strings.ContainsFunc(w, func(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }) && !strings.ContainsAny(w, "0123456789…") {
			out = append(out, w)
		}
	}
	return out
}

func TestLacking(t *testing.T) {
	const shown = "b-d  docker  10  0.2 [0.1, 0.3]  worse\nstatus 3\n…\n"
	for said, want := range map[string]string{
		"status 3\n\na docker 9 1.2 worse than":  "",
		"status 4\n\na docker 9 1.2 worse than":  "status 3",
		"status 3\n\na podman 9 1.2 better than": "docker,worse",
	} {
		if missing, n := lacking(shown, said, nil); strings.Join(missing, ",") != want || n != 3 {
			t.Errorf("%q: %q of %d", said, missing, n)
		}
	}
	if missing, n := lacking(shown, "status 4\ndocker", []string{"worse"}); len(missing) != 1 || n != 2 {
		t.Errorf("%q of %d", missing, n)
	}
}
