//go:build linux

package cli

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"plimsoll/internal/measure/build"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/record"
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
	var others []string
	asked = slices.DeleteFunc(asked, func(a build.Asked) bool {
		other := a.Program != args[0]
		if other && !slices.Contains(others, a.Program) {
			others = append(others, a.Program)
		}
		return other
	})
	if len(others) > 0 && len(asked) > 0 {
		fmt.Fprintf(s.world.Stderr, "of %s: %s, and not %s\n", f.file, args[0], strings.Join(others, ", "))
	}
	for _, arg := range args[1:] {
		name, value, _ := strings.Cut(arg, "=")
		if _, err := os.Stat(value); slices.Contains(engine.Factors, name) || !strings.ContainsAny(value, "/=") && !strings.HasPrefix(value, build.Contexted) && (value == "" || err != nil) {
			rest = append(rest, arg)
			continue
		}
		a, err := build.Parse(args[0]+":"+arg, "the build", dir)
		if err != nil {
			return nil, nil, fail(Usage, "%w", err)
		}
		asked = append(asked, a)
	}
	build.Sort(asked, engine.AllPrograms(s.engines))
	for i, a := range asked {
		if slices.ContainsFunc(asked[:i], func(b build.Asked) bool { return b.Level == a.Level && b.File == a.File && b.Variable == a.Variable }) {
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

// study is the one that is run: environments that differ in the build alone.
func (f *releasesFlags) study(all []engine.Engine, program string, builds []record.Build, rest []string) (string, error) {
	if err := f.possible(); err != nil {
		return "", err
	}
	var levels []string
	for _, b := range builds {
		levels = append(levels, b.Level)
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
			line = append(line, strings.TrimPrefix(text, b.Program+":"))
		}
	}
	var own shellLine
	own.add(f.threshold != fmt.Sprintf("%g%%", 100*releases.Threshold), "--threshold", f.threshold)
	return f.repeated(append(line, rest...), own, releasesBudget, seed)
}
