//go:build linux

package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"plimsoll/internal/measure/build"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/releases"
)

// knownProgram says whether an engine takes builds of a program of this name.
func knownProgram(w World, name string) bool { return slices.Contains(buildable(w), name) }

// builds are those of the file and of the command line, in this order; rest are the
// levels of factors and parameters. What names a file has a slash.
func (f *releasesFlags) builds(ctx context.Context, s *setting, args []string) (builds []record.Build, rest []string, err error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, nil, fail(Failed, "finding the working directory: %w", err)
	}
	asked, err := (&buildFlags{file: f.file}).asked()
	if err != nil {
		return nil, nil, err
	}
	var versions []string
	for _, arg := range args[1:] {
		if build.IsVersion(arg) {
			versions = append(versions, arg)
			continue
		}
		name, value, _ := strings.Cut(arg, "=")
		if _, err := os.Stat(value); slices.Contains(engine.Factors, name) || !strings.ContainsAny(value, "/=") && !strings.HasPrefix(value, build.Contexted) && (value == "" || err != nil) {
			rest = append(rest, arg)
			continue
		}
		if !strings.Contains(name, ":") {
			arg = args[0] + ":" + arg
		}
		a, err := build.Parse(arg, "the build", dir)
		if err != nil {
			return nil, nil, fail(Usage, "%w", err)
		}
		asked = append(asked, a)
	}
	if f.from != "" || len(versions) > 0 {
		released, err := f.released(ctx, s, args[0], versions)
		if err != nil {
			return nil, nil, err
		}
		asked = append(asked, released...)
	}
	if asked, rest, err = f.sets(s, args[0], asked, rest); err != nil {
		return nil, nil, err
	}
	build.Sort(asked, engine.AllPrograms(s.engines))
	for i, a := range asked {
		if slices.ContainsFunc(asked[:i], func(b build.Asked) bool {
			return b.Program == a.Program && b.Level == a.Level && b.File == a.File && b.Variable == a.Variable
		}) {
			return nil, nil, fail(Usage, "%s: %s is named twice", a.Where, a.Level)
		}
	}
	if len(asked) < 2 {
		hint := "plimsoll releases %[1]s 1.0=/opt/%[1]s-1.0/%[1]s 1.1=./%[1]s"
		if f.file != "" {
			hint = "%[2]s can name them: builds: {%[1]s: {1.0: /opt/%[1]s-1.0/%[1]s, 1.1: ./%[1]s}}"
		}
		return nil, nil, withHint(fail(Usage, "expected two builds of %s or more, each as NAME=FILE, with a slash in FILE", args[0]), "%s", fmt.Sprintf(hint, args[0], f.file))
	}
	if builds, err = s.bind(ctx, asked); err != nil {
		return nil, nil, fail(Usage, "%w", err)
	}
	return builds, rest, nil
}

// sets are the builds of a program, which say what the releases are of, and behind them those
// of the same names that its engine runs with it, with the level that has it do so. Others in
// the file are named on standard error.
func (f *releasesFlags) sets(s *setting, program string, asked []build.Asked, rest []string) (kept []build.Asked, levels []string, err error) {
	names, byLevel, err := setOf(s.engines, program, f.engine, rest)
	if err != nil {
		return nil, nil, err
	}
	var belonging []build.Asked
	var with, without []string
	for _, a := range asked {
		switch {
		case a.Program == program:
			kept = append(kept, a)
		case slices.Contains(names, a.Program) && slices.ContainsFunc(asked, func(b build.Asked) bool { return b.Program == program && b.Level == a.Level }):
			belonging, with = append(belonging, a), analyze.Also(with, a.Program)
		default:
			without = analyze.Also(without, a.Program)
		}
	}
	if len(without) > 0 && len(kept) > 0 {
		fmt.Fprintf(s.world.Stderr, "of %s: %s, and not %s\n", f.file, strings.Join(append([]string{program}, with...), ", "), strings.Join(without, ", "))
	}
	level, err := levelOfSet(f.file, program, with, byLevel)
	if level != "" {
		rest = append(rest, level)
	}
	return append(kept, belonging...), rest, err
}

// onlyBuild builds the releases that are named, and prints each as --build takes it.
func (f *releasesFlags) onlyBuild(ctx context.Context, w World, args []string) error {
	for _, arg := range args[1:] {
		if !build.IsVersion(arg) {
			return fail(Usage, "--build-only: %q is not a version: expected one like 1.1.0", arg)
		}
	}
	if f.from == "" && len(args) == 1 {
		return withHint(fail(Usage, "--build-only: expected the versions to build"), "plimsoll releases %s 1.1.0 --build-only", args[0])
	}
	s, err := newSetting(w)
	if err != nil {
		return err
	}
	asked, err := f.released(ctx, s, args[0], args[1:])
	if err != nil {
		return err
	}
	for _, a := range asked {
		fmt.Fprintf(w.Stdout, "%s:%s=%s\n", a.Program, a.Level, a.Path)
	}
	for _, version := range args[1:] {
		if !slices.ContainsFunc(asked, func(a build.Asked) bool { return a.Level == version }) {
			return fail(Failed, "%s %s could not be built", args[0], version)
		}
	}
	return nil
}

// released are builds of the releases from one on, and of versions that were named. One
// that can't be built here is left out, with the reason.
func (f *releasesFlags) released(ctx context.Context, s *setting, program string, versions []string) (asked []build.Asked, err error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return nil, withHint(fail(Failed, "finding a place for what is built: %w", err), "set XDG_CACHE_HOME to a directory of your own")
	}
	say := func(text string) { fmt.Fprintln(s.world.Stderr, text) }
	m, err := build.OpenModules(ctx, program, filepath.Join(dir, "plimsoll", "releases"), say)
	if err != nil {
		return nil, fail(Usage, "%w", err)
	}
	if f.from != "" {
		listed, err := m.Versions(ctx, f.from)
		if err != nil {
			return nil, fail(Usage, "--from: %w", err)
		}
		versions = append(versions, listed...)
	}
	for _, v := range build.Ordered(versions) {
		built, err := m.Build(ctx, v)
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case err != nil:
			say("without " + v + ": " + err.Error())
		}
		asked = append(asked, built...)
	}
	return asked, nil
}

// study is the one that is run: environments that differ in the build alone.
func (f *releasesFlags) study(all []engine.Engine, program string, builds []record.Build, rest []string) (string, error) {
	if err := f.possible(); err != nil {
		return "", err
	}
	var levels []string
	for _, b := range builds {
		if b.Program == program {
			levels = append(levels, b.Level)
		}
	}
	return buildsStudy{
		by: "releases", title: "Releases of " + program, course: f.ends(""), program: program, engine: f.engine, levels: levels,
		rest: rest, workload: f.workload, metrics: f.metrics, seed: f.seed, tuned: f.tuned,
	}.text(all)
}

// command is what measures the same again: of builds that are as they were.
func (f *releasesFlags) command(builds []record.Build, rest []string, seed uint64) string {
	line := []string{"plimsoll", "releases", builds[0].Program}
	for _, b := range builds {
		for _, text := range build.Texts(b) {
			line = append(line, strings.TrimPrefix(text, builds[0].Program+":"))
		}
	}
	var own shellLine
	own.add(f.threshold != fmt.Sprintf("%g%%", 100*releases.Threshold), "--threshold", f.threshold)
	return f.repeated(append(line, rest...), own, releasesBudget, seed)
}
