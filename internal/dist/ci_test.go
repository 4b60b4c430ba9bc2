package main

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

// step is a step of a composite action, with all keys that one may have.
type step struct {
	Name  string            `yaml:"name"`
	ID    string            `yaml:"id"`
	If    string            `yaml:"if"`
	Uses  string            `yaml:"uses"`
	With  map[string]string `yaml:"with"`
	Shell string            `yaml:"shell"`
	Env   map[string]string `yaml:"env"`
	Run   string            `yaml:"run"`
}

// action is an action's metadata, as far as it is used here.
type action struct {
	Name, Description string
	Inputs            map[string]struct {
		Description string
		Default     *string
	}
	Outputs map[string]struct{ Description, Value string }
	Runs    struct {
		Using string
		Steps []step
	}
}

// variables are what a script says at its head that it takes.
func variables(t *testing.T, script string) []string {
	t.Helper()
	text := string(read(t, script))
	head, body, ok := strings.Cut(text, "\nset -eu")
	if !ok {
		t.Fatalf("%s has no head", script)
	}
	var names []string
	for _, m := range regexp.MustCompile(`(?m)^#   (PLIMSOLL\w*) `).FindAllStringSubmatch(head, -1) {
		if names = append(names, m[1]); !strings.Contains(body, m[1]) {
			t.Errorf("%s does not use %s", script, m[1])
		}
	}
	for _, m := range regexp.MustCompile(`\bPLIMSOLL\w*`).FindAllString(body, -1) {
		if !slices.Contains(names, m) {
			t.Errorf("%s does not say that it takes %s", script, m)
		}
	}
	return names
}

func known(t *testing.T) []string {
	return slices.Concat(variables(t, "../../ci/gate.sh"), variables(t, "../../ci/pair.sh"), variables(t, "../../ci/install.sh"))
}

// strict reads YAML, and refuses keys that the type has not.
func strict(t *testing.T, file string, to any) {
	t.Helper()
	if err := yaml.Load(read(t, file), to, yaml.WithKnownFields()); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

// The action's inputs all come to a script, as variables that it takes; none
// is laid into the text of one.
func TestAction(t *testing.T) {
	const file = "../../ci/github/action.yml"
	var a action
	strict(t, file, &a)
	if a.Name == "" || a.Description == "" || a.Runs.Using != "composite" || len(a.Inputs) < 6 || len(a.Outputs) == 0 {
		t.Fatalf("%+v", a)
	}
	takes, given := known(t), map[string]bool{}
	used := ""
	ids := map[string]bool{}
	for _, s := range a.Runs.Steps {
		ids[s.ID] = true
		if (s.Uses == "") == (s.Run == "") || (s.Run == "") != (s.Shell == "") {
			t.Errorf("step %s: either uses, or run with a shell", s.Name)
		}
		if s.Uses != "" && !regexp.MustCompile(`^[\w-]+/[\w/-]+@v\d+$`).MatchString(s.Uses) {
			t.Errorf("step %s uses %s", s.Name, s.Uses)
		}
		if strings.Contains(s.Run, "${{") {
			t.Errorf("step %s: an expression in a script runs whatever a pull request's author writes", s.Name)
		}
		for name, value := range s.Env {
			if given[name] = true; !slices.Contains(takes, name) {
				t.Errorf("step %s gives %s, which no script takes", s.Name, name)
			}
			used += value + "\n"
		}
		for _, v := range s.With {
			used += v + "\n"
		}
		used += s.If + "\n"
		if m := regexp.MustCompile(`GITHUB_ACTION_PATH/(\S+\.sh)`).FindStringSubmatch(s.Run); m != nil {
			if info, err := os.Stat(filepath.Join(filepath.Dir(file), m[1])); err != nil || info.Mode()&0o111 == 0 {
				t.Errorf("step %s: %v is no program", s.Name, m[1])
			}
		} else if s.Run != "" {
			t.Errorf("step %s runs no script of ours", s.Name)
		}
	}
	for name, in := range a.Inputs {
		if in.Description == "" || in.Default == nil {
			t.Errorf("input %s lacks a description or a default", name)
		}
		if !regexp.MustCompile(`\binputs\.` + name + `\b`).MatchString(used) {
			t.Errorf("input %s is not used", name)
		}
	}
	for _, m := range regexp.MustCompile(`\binputs\.([\w-]+)`).FindAllStringSubmatch(used, -1) {
		if _, ok := a.Inputs[m[1]]; !ok {
			t.Errorf("there is no input %s", m[1])
		}
	}
	for name, out := range a.Outputs {
		if m := regexp.MustCompile(`steps\.(\w+)\.outputs\.(\w+)`).FindStringSubmatch(out.Value); m == nil || !ids[m[1]] ||
			!strings.Contains(string(read(t, "../../ci/gate.sh")), m[2]+"=%s") || !strings.Contains(string(read(t, "../../ci/pair.sh")), m[2]+"=%s") {
			t.Errorf("output %s: %s", name, out.Value)
		}
	}
}

// The template's variables are those of the scripts, and its own two.
func TestGitLab(t *testing.T) {
	var jobs map[string]struct {
		Stage     string
		Variables map[string]string
		Rules     []struct {
			If        string
			Variables map[string]string
		}
		BeforeScript []string `yaml:"before_script"`
		Script       []string
		Cache        struct {
			Key, Policy string
			Paths       []string
			Unprotect   bool
		}
		Artifacts struct {
			When    string
			Paths   []string
			Reports map[string]string
		}
	}
	strict(t, "../../ci/gitlab/plimsoll.yml", &jobs)
	job, ok := jobs[".plimsoll"]
	if !ok || len(jobs) != 1 || len(job.Script) == 0 || job.Artifacts.Reports["junit"] == "" {
		t.Fatalf("%+v", jobs)
	}
	takes := append(known(t), "PLIMSOLL_SOURCE", "PLIMSOLL_CACHE")
	for name := range job.Variables {
		if !slices.Contains(takes, name) {
			t.Errorf("%s is nobody's", name)
		}
	}
	all := slices.Sorted(maps.Keys(job.Variables))
	for _, r := range job.Rules {
		for name := range r.Variables {
			if !slices.Contains(all, name) {
				t.Errorf("a rule sets %s, which has no default", name)
			}
		}
	}
	for _, name := range takes {
		if name != "PLIMSOLL" && !slices.Contains(all, name) {
			t.Errorf("%s has no default", name)
		}
	}
	for i, s := range slices.Concat(job.BeforeScript, job.Script) {
		if out, err := exec.Command("sh", "-nc", s).CombinedOutput(); err != nil {
			t.Errorf("line %d: %v: %s", i, err, out)
		}
	}
}

// The scripts are clean, and so are those that test and that build a release.
func TestShellcheck(t *testing.T) {
	path, err := exec.LookPath("shellcheck")
	if err != nil {
		t.Skip("no shellcheck here (package shellcheck)")
	}
	files := []string{"../../tools/test"}
	for _, p := range []string{"../../ci/*.sh", "*.sh"} {
		found, err := filepath.Glob(p)
		if err != nil || len(found) < 2 {
			t.Fatalf("%s: %v %v", p, found, err)
		}
		files = append(files, found...)
	}
	if out, err := exec.Command(path, files...).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
