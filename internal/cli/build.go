//go:build linux

package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"plimsoll/internal/common/yamlfile"
	"plimsoll/internal/measure/build"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/study"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
)

// buildFlags say which files the levels of the factor build are: a study names no
// path of a machine.
type buildFlags struct {
	list []string
	file string
}

func (f *buildFlags) add(c *cobra.Command) {
	c.Flags().StringArrayVar(&f.list, "build", nil, "the file that a level of the factor build stands for, as PROGRAM:LEVEL=PATH; or =FILE=PATH of a configuration, =KEY=VALUE of a variable, =unix://SOCKET of a daemon that runs already, =context:NAME of the one that a context leads to")
	c.Flags().StringVar(&f.file, "builds", "", "a YAML file that names several builds")
	completesPaths(c, yamlEndings, "builds")
}

// asked are the bindings of the command line, before any file was looked at.
func (f *buildFlags) asked() (all []build.Asked, err error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, fail(Failed, "finding the working directory: %w", err)
	}
	for _, text := range f.list {
		a, err := build.Parse(text, "--build", dir)
		if err != nil {
			return nil, fail(Usage, "%w", err)
		}
		all = append(all, a)
	}
	if f.file == "" {
		return all, nil
	}
	data, err := yamlfile.ReadGiven(f.file)
	if err != nil {
		return nil, fail(Usage, "reading the builds: %w", err)
	}
	more, err := build.Read(f.file, data)
	if err != nil {
		return nil, fail(Usage, "%w", err)
	}
	return append(all, more...), nil
}

// useBuilds looks at the files of the bindings and takes them.
func (s *setting) useBuilds(ctx context.Context, f *buildFlags) error {
	asked, err := f.asked()
	if err != nil || len(asked) == 0 {
		return err
	}
	if s.builds, err = s.bind(ctx, asked); err != nil {
		return fail(Usage, "%w", err)
	}
	return nil
}

// bind looks at the files of bindings, and asks the programs what they are.
func (s *setting) bind(ctx context.Context, asked []build.Asked) ([]record.Build, error) {
	for _, a := range asked {
		if slices.ContainsFunc(s.engines, func(e engine.Engine) bool { return e.Info().Name == a.Program && len(e.Info().Programs) == 0 }) {
			return nil, fmt.Errorf("%s: %s takes no build, it is measured as it is installed: run once with each, and plimsoll compare BASE NEW holds one run against the other", a.Where, a.Program)
		}
	}
	asked, err := s.withoutContexts(asked)
	if err != nil {
		return nil, err
	}
	return build.Bind(ctx, asked, engine.AllPrograms(s.engines), s.world.LookPath)
}

// withBuilds is what was found of an engine, looked for again where other builds of
// its programs are to be run: what holds of one build need not hold of another.
func (s *setting) withBuilds(ctx context.Context, f found, levels map[string]string) (found, error) {
	builds, err := f.Info.BuildsFor(levels, s.builds)
	if err != nil || len(builds) == 0 {
		return f, err
	}
	key := f.Info.Name
	for _, b := range builds {
		key += " " + b.Name()
	}
	again, ok := s.built[key]
	if !ok {
		again = s.detectOne(ctx, s.detectKit().With(builds), s.engine(f.Info.Name))
		if s.built == nil {
			s.built = map[string]found{}
		}
		s.built[key] = again
	}
	return again, nil
}

// buildsUnused is the code of the remark that no environment uses some builds of a file.
const buildsUnused = "builds-unused"

// usedBuilds are the builds that environments of a plan run. A build of the command line
// that none of them uses is an error, one of a file gets a remark. The flags are set to
// the builds with their digests, so that a repeated run reports a changed file. unbound
// is the error for environments that can't get their builds; it names all of them.
func (s *setting) usedBuilds(f *buildFlags, p *study.Plan, fl *pflag.FlagSet) (used []record.Build, unbound, err error) {
	levels := make([]map[string]string, 0, len(p.Environments)+len(p.Excluded))
	engines := make([]string, 0, cap(levels))
	for _, e := range p.Environments {
		levels, engines = append(levels, e.Levels), append(engines, e.Engine)
	}
	planned := len(levels)
	for _, x := range p.Excluded {
		levels, engines = append(levels, x.Levels), append(engines, x.Engine)
	}
	asked := map[string]bool{}
	var missing, problems, hints []string
	for i, l := range levels {
		for _, e := range s.engines {
			if e.Info().Name != engines[i] {
				continue
			}
			builds, err := e.Info().BuildsFor(l, s.builds)
			if none, ok := errors.AsType[*engine.UnboundError](err); ok {
				missing = analyze.Also(missing, none.Build())
				continue
			}
			if err != nil {
				reason, fix := engine.Reason(err)
				problems = analyze.Also(problems, reason)
				if fix != "" {
					hints = analyze.Also(hints, fix)
				}
				continue
			}
			for _, b := range builds {
				asked[b.Name()] = true
				if i < planned && !slices.ContainsFunc(used, func(u record.Build) bool { return u.Name() == b.Name() }) {
					used = append(used, b)
				}
			}
		}
	}
	if len(missing) > 0 {
		problems = append(problems, "the study names builds that this run was not given: "+strings.Join(missing, ", "))
		hints = append(hints, "give each by --build PROGRAM:NAME=FILE, or all of them by --builds FILE; to leave one out, take its name out of build: in the study, or choose what is measured by --engine or --part")
	}
	if len(problems) > 0 {
		unbound = withHint(fail(Usage, "%s", strings.Join(problems, "; ")), "%s", strings.Join(hints, "; "))
	}
	if err := s.unusedBuilds(f, p, asked); err != nil {
		return nil, nil, err
	}
	if flag, ok := fl.Lookup("build").Value.(pflag.SliceValue); ok && len(used) > 0 {
		var texts []string
		for _, b := range used {
			texts = append(texts, build.Texts(b)...)
		}
		fl.Lookup("build").Changed = true
		return used, unbound, flag.Replace(texts)
	}
	return used, unbound, nil
}

// unusedBuilds returns an error for builds of --build that are not among those asked for,
// and adds a remark to the plan for those of --builds.
func (s *setting) unusedBuilds(f *buildFlags, p *study.Plan, asked map[string]bool) error {
	var given, listed []string
	hint := "an environment uses the builds that its key build names"
	known := engine.AllPrograms(s.engines)
	for _, b := range s.builds {
		if asked[b.Name()] {
			continue
		}
		if slices.ContainsFunc(f.list, func(text string) bool { return strings.HasPrefix(text, b.Name()+"=") }) {
			given = append(given, b.Name())
		} else {
			listed = append(listed, b.Name())
		}
		k := slices.IndexFunc(known, func(p engine.Program) bool { return p.Name == b.Program })
		if needs := known[k].Needs(b.Program); needs != "" && !strings.Contains(hint, needs) {
			hint += fmt.Sprintf("; engines start %s only where %s is named", b.Program, needs)
		}
	}
	if len(given) > 0 {
		return withHint(fail(Usage, "--build: no environment of this study uses %s", strings.Join(given, ", ")), "%s", hint)
	}
	if len(listed) > 0 {
		p.Remarks = append(p.Remarks, record.Remark{Code: buildsUnused, Level: "warn", Text: fmt.Sprintf("No environment of this study uses these builds of %s: %s; %s.", f.file, strings.Join(listed, ", "), hint)})
	}
	return nil
}
