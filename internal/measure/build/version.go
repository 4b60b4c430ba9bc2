package build

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/measure/child"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
)

// answerLimit is how long a program may take to say its version.
var answerLimit = 10 * time.Second

// version asks a program for its version, and whether it is the one that it is
// given for.
func version(ctx context.Context, path string, p engine.Program) (string, error) {
	option := cmp.Or(p.Version, "--version")
	out, err := ask(ctx, path, option, "its version")
	if err != nil {
		return "", err
	}
	name, v := itself(string(out))
	if v == "" {
		return "", fmt.Errorf("%s prints no version (%s)%s", path, option, saying(out))
	}
	if p.Helps != "" {
		help, err := ask(ctx, path, "--help", "what it is for")
		has := func(line string) bool { return strings.Join(strings.Fields(line), " ") == p.Helps }
		if err == nil && !slices.ContainsFunc(strings.Split(string(help), "\n"), has) {
			err = fmt.Errorf("%s is another program: its --help has no line %q, as that of %s has", path, p.Helps, p.Name)
		}
		return v, err
	}
	want := cmp.Or(p.Says, p.Name)
	if name == "" && !p.Unnamed {
		return "", fmt.Errorf("%s does not say that it is %s: --version prints %q alone", path, want, v)
	}
	if id := (adapter.Itself{Path: path, Program: name}); id.Wrong(want, "") != nil {
		return "", fmt.Errorf("%s is another program: it says that it is %s %s, not %s", path, name, v, want)
	}
	return v, nil
}

// ask has a program say something.
func ask(ctx context.Context, path, option, what string) ([]byte, error) {
	// Charliecloud's says nothing without a USER.
	out, err := child.Run(ctx, child.Command{Argv: []string{path, option}, Env: []string{adapter.Path, "USER=root", "HOME=/"}, Limit: answerLimit, Together: true})
	var hung *child.HungError
	switch {
	case errors.As(err, &hung):
		return nil, fmt.Errorf("%s hangs: it did not say %s (%s) within %s", path, what, option, answerLimit)
	case err != nil:
		return nil, fmt.Errorf("%s does not say %s (%s): %w%s", path, what, option, err, saying(out.Stdout))
	}
	return out.Stdout, nil
}

func saying(out []byte) string {
	if text := adapter.Words(out); text != "" {
		return ": " + text
	}
	return ""
}

var number = regexp.MustCompile(`^v?\d[\w.+~:-]*,?$`)

// itself reads what programs print on --version: "runc version 1.1.5", "youki
// version: 0.7.0", "containerd github.com/containerd/containerd v1.7.2 6312…"; or the
// number alone, as Charliecloud's do; or a line for each, as containerd's shims do. One that was built without its number says a
// word in its place.
func itself(out string) (name, version string) {
	line, _, _ := strings.Cut(strings.TrimSpace(out), "\n")
	words := strings.Fields(line)
	if len(words) == 0 {
		return "", ""
	}
	if number.MatchString(words[0]) {
		return "", words[0]
	}
	for _, w := range words[1:] {
		if number.MatchString(w) {
			return words[0], strings.TrimSuffix(w, ",")
		}
	}
	if len(words) == 1 {
		for line := range strings.Lines(out) {
			if v, ok := strings.CutPrefix(strings.TrimSpace(line), "Version:"); ok {
				return strings.TrimSuffix(words[0], ":"), strings.TrimSpace(v)
			}
		}
		return "", ""
	}
	return words[0], words[len(words)-1]
}
