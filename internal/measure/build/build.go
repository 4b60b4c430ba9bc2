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

// Asked is a level that the user binds to a file.
type Asked struct {
	Program, Level, Path string
	// SHA256, where given, is what the file's digest must be.
	SHA256 string
	// Where is where it was said, for messages.
	Where string
}

// digest ends the path of a binding that demands one.
var digest = regexp.MustCompile(`@sha256:([0-9a-f]{64})$`)

// Parse reads PROGRAM:LEVEL=PATH, with @sha256:DIGEST behind it where the file must
// have that digest; where is for messages. A path is taken from dir.
func Parse(text, where, dir string) (Asked, error) {
	name, path, ok := strings.Cut(text, "=")
	program, level, named := strings.Cut(name, ":")
	if !ok || !named || program == "" || path == "" {
		return Asked{}, fmt.Errorf("%s %q: expected PROGRAM:LEVEL=PATH, such as the-program:old=/opt/old/the-program", where, text)
	}
	a := Asked{Program: program, Level: level, Path: path, Where: where + " " + text}
	if m := digest.FindStringSubmatch(path); m != nil {
		a.SHA256, a.Path = m[1], strings.TrimSuffix(path, m[0])
	}
	if !engine.IsBuild(level) {
		return a, fmt.Errorf("%s: %q is no name for a build: small letters, digits, - and dots between them, and not default", a.Where, level)
	}
	if !filepath.IsAbs(a.Path) {
		a.Path = filepath.Join(dir, a.Path)
	}
	return a, nil
}

// Text is the binding of a build as Parse reads it, with its digest.
func Text(b record.Build) string { return b.Name() + "=" + b.Path + "@sha256:" + b.SHA256 }

// Bind looks at the file of each binding and asks it what it is.
func Bind(ctx context.Context, asked []Asked, known []engine.Program) ([]record.Build, error) {
	var out []record.Build
	for _, a := range asked {
		i := slices.IndexFunc(known, func(p engine.Program) bool { return p.Name == a.Program })
		if i < 0 {
			return nil, fmt.Errorf("%s: %w", a.Where, unknown(a.Program, known))
		}
		b, err := one(ctx, a, known[i])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", a.Where, err)
		}
		k := slices.IndexFunc(out, func(o record.Build) bool { return o.Name() == b.Name() })
		if k >= 0 && out[k].Path != b.Path {
			return nil, fmt.Errorf("%s: %s is bound twice, to %s before", a.Where, b.Name(), out[k].Path)
		}
		if k < 0 {
			out = append(out, b)
		}
	}
	return out, nil
}

func unknown(program string, known []engine.Program) error {
	var names []string
	for _, p := range known {
		names = append(names, p.Name)
	}
	text := fmt.Sprintf("%q is no program of which an engine takes a build; it can be %s", program, yamlfile.OneOf(names))
	if near := yamlfile.Nearest(program, names); near != "" {
		text += fmt.Sprintf("; did you mean %q?", near)
	}
	return fmt.Errorf("%s", text)
}

// one looks at the file of one binding.
func one(ctx context.Context, a Asked, p engine.Program) (record.Build, error) {
	b, err := Look(a)
	if err == nil {
		b.Version, err = version(ctx, b.Path, p)
	}
	return b, err
}
