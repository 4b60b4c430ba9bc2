// Package build binds the levels of the factor build, which a study names, to the
// files that the user says they are.
//
// It is opinionated: a build is one file, a program of this machine's processor; it
// is known by its digest, so that a file that was changed is another build; and
// what is wrong with it is said before anything is measured, in one sentence.
//
// Why it is so: docs/decisions/builds.md.
package build

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"plimsoll/internal/common/yamlfile"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/record"
)

// Asked is a part of what the user binds a level to: a program, a configuration file of
// it, or a variable of its environment.
type Asked struct {
	Program, Level string
	// Path is that of a file: of the program, or of its configuration file File.
	Path, File string
	// Socket is that of a daemon that runs already. Then there is no path.
	Socket string
	// Context is the name of a Docker context, whose socket is meant. Then there is no
	// path, and it has to be found before it is bound.
	Context string
	// Variable is K=V. Then there is no path. With neither it is the program on the PATH
	// with nothing of a configuration.
	Variable string
	// SHA256, where given, is what the file's digest must be.
	SHA256 string
	// Where is where it was said, for messages.
	Where string
}

var (
	// digest ends the path of a binding that demands one.
	digest = regexp.MustCompile(`@sha256:([0-9a-f]{64})$`)
	// named begins what is no program: the name of a variable, or of a file.
	named = regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_.-]*)=`)
	// contextName is what Docker lets a context be called.
	contextName = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9_.+-]*$`)
	// variable is the name of one, as everybody writes them.
	variable = regexp.MustCompile(`^[A-Z_][A-Z0-9_]*$`)
)

// Contexted begins what is no path but the name of a Docker context.
const Contexted = "context:"

// Parse reads PROGRAM:LEVEL=PATH, with @sha256:DIGEST behind it where the file must
// have that digest; where is for messages. A path is taken from dir. Instead of a
// PATH, FILE=PATH is a configuration file, KEY=VALUE a variable, unix://SOCKET a daemon
// that runs already, and context:NAME the one of a Docker context.
func Parse(text, where, dir string) (Asked, error) {
	name, path, ok := strings.Cut(text, "=")
	program, level, leveled := strings.Cut(name, ":")
	if !ok || !leveled || program == "" || path == "" {
		return Asked{}, fmt.Errorf("%s %q: expected PROGRAM:LEVEL=PATH, such as the-program:old=/opt/old/the-program", where, text)
	}
	a := Asked{Program: program, Level: level, Path: path, Where: where + " " + text}
	if !engine.IsBuild(level) {
		return a, notNamed(a.Where, level)
	}
	if m := named.FindStringSubmatch(path); m != nil && variable.MatchString(m[1]) {
		a.Variable, a.Path = path, ""
		return a, nil
	} else if m != nil {
		a.File, a.Path = m[1], path[len(m[0]):]
	}
	if m := digest.FindStringSubmatch(a.Path); m != nil {
		a.SHA256, a.Path = m[1], strings.TrimSuffix(a.Path, m[0])
	}
	if a.Path == "" {
		return a, fmt.Errorf("%s: expected a path behind %s=", a.Where, a.File)
	}
	if socket, ok := strings.CutPrefix(a.Path, socketed); ok && a.File == "" {
		if !filepath.IsAbs(socket) {
			return a, fmt.Errorf("%s: expected the whole path of a socket, %s/run/the-daemon.sock", a.Where, socketed)
		}
		a.Socket, a.Path = filepath.Clean(socket), ""
		return a, nil
	}
	if name, ok := strings.CutPrefix(a.Path, Contexted); ok && a.File == "" {
		if !contextName.MatchString(name) {
			return a, fmt.Errorf("%s: %q is not the name of a context (if it is a path, begin it with ./)", a.Where, name)
		}
		a.Context, a.Path = name, ""
		return a, nil
	}
	if !filepath.IsAbs(a.Path) {
		a.Path = filepath.Join(dir, a.Path)
	}
	return a, nil
}

func notNamed(where, level string) error {
	return fmt.Errorf("%s: %q is not a name for a build: small letters, digits, - and dots between them, and not default", where, level)
}

// Texts are the bindings of a build as Parse reads them, with its digests.
func Texts(b record.Build) []string {
	what := b.Path
	if b.Socket != "" {
		what = socketed + b.Socket
	}
	out := []string{b.Name() + "=" + what + "@sha256:" + b.SHA256}
	for _, f := range b.Files {
		out = append(out, b.Name()+"="+f.Name+"="+f.Path+"@sha256:"+f.SHA256)
	}
	for _, v := range b.Variables {
		out = append(out, b.Name()+"="+v)
	}
	return out
}

// Bind looks at the files of each binding and asks each program what it is. look finds
// a program on the user's PATH: that of a level of which only a configuration is named.
func Bind(ctx context.Context, asked []Asked, known []engine.Program, look func(string) (string, error)) ([]record.Build, error) {
	var out []record.Build
	var programs []engine.Program
	for _, a := range asked {
		i := slices.IndexFunc(known, func(p engine.Program) bool { return p.Name == a.Program })
		if i < 0 {
			return nil, fmt.Errorf("%s: %w", a.Where, unknown(a.Program, known))
		}
		k := slices.IndexFunc(out, func(o record.Build) bool { return o.Program == a.Program && o.Level == a.Level })
		if k < 0 {
			k, out, programs = len(out), append(out, record.Build{Program: a.Program, Level: a.Level}), append(programs, known[i])
		}
		if err := add(ctx, &out[k], a, known[i]); err != nil {
			return nil, fmt.Errorf("%s: %w", a.Where, err)
		}
	}
	for k := range out {
		if out[k].Path != "" {
			continue
		}
		path, err := look(out[k].Program)
		if err != nil {
			return nil, fmt.Errorf("the configuration %s: %s is not on your PATH; name the program too: --build %s=PATH", out[k].Name(), out[k].Program, out[k].Name())
		}
		if err := add(ctx, &out[k], Asked{Program: out[k].Program, Level: out[k].Level, Path: path}, programs[k]); err != nil {
			return nil, fmt.Errorf("the configuration %s: %w", out[k].Name(), err)
		}
	}
	return out, nil
}

// add adds one binding to a build.
func add(ctx context.Context, b *record.Build, a Asked, p engine.Program) error {
	a.File = fileOf(a, p)
	switch {
	case b.Socket != "" && (a.Variable != "" || a.File != ""):
		return configuredItself(b)
	case a.Variable != "":
		return addVariable(b, a, p)
	case a.File != "":
		return addFile(b, a, p)
	case a.Socket == b.Socket && (a.Socket != "" || a.Path == "" || a.Path == b.Path): // without a path it is that of the PATH
		return nil
	case b.Path != "":
		return fmt.Errorf("%s is bound twice, to %s before", b.Name(), cmp.Or(b.Socket, b.Path))
	case a.Socket != "" && !p.Joins:
		return fmt.Errorf("%s is not a daemon that can be used while it runs: name its file", p.Name)
	}
	if which := alike(a.Path, p); len(which) > 1 {
		return fmt.Errorf("%s has several files that end so: say which it is, %s=%s or %s=…", p.Name, which[0], a.Path, strings.Join(which[1:], "=… or "))
	}
	now, err := one(ctx, a, p)
	now.Files, now.Variables = b.Files, b.Variables
	*b = now
	if err == nil && b.Socket != "" && b.Configured() {
		return configuredItself(b)
	}
	return err
}

func unknown(program string, known []engine.Program) error {
	var names []string
	for _, p := range known {
		names = append(names, p.Name)
	}
	text := fmt.Sprintf("%q is not a program whose builds an engine can use; it can be %s", program, yamlfile.OneOf(names))
	if near := yamlfile.Nearest(program, names); near != "" {
		text += fmt.Sprintf("; did you mean %q?", near)
	}
	return fmt.Errorf("%s", text)
}

// one looks at the file of one binding.
func one(ctx context.Context, a Asked, p engine.Program) (record.Build, error) {
	b, err := Look(a)
	if err != nil {
		return b, err
	}
	if b.Socket != "" {
		b.Version, err = runningVersion(ctx, b, p)
		return b, err
	}
	b.Version, err = version(ctx, b.Path, p)
	return b, err
}
