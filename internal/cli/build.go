//go:build linux

package cli

import (
	"context"
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
)

// buildFlags say which files the levels of the factor build are: a study names no
// path of a machine.
type buildFlags struct {
	list []string
	file string
}

func (f *buildFlags) add(c *cobra.Command) {
	c.Flags().StringArrayVar(&f.list, "build", nil, "the file that a level of the factor build stands for, as PROGRAM:LEVEL=PATH; or =FILE=PATH of a configuration, =KEY=VALUE of a variable, =unix://SOCKET of a daemon that runs already, =context:NAME of the one that a context leads to")
	c.Flags().StringVar(&f.file, "builds", "", "a YAML file that says so of several builds")
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

// usedBuilds are the builds that environments of a plan run. What was bound on the
// command line and is asked for by none is a slip. The flags are set to the builds
// with their digests, so that who repeats the run is told where one was changed. An
// environment whose build nobody has bound is an error of unbound.
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
	for i, l := range levels {
		for _, e := range s.engines {
			if e.Info().Name != engines[i] {
				continue
			}
			builds, err := e.Info().BuildsFor(l, s.builds)
			if err != nil {
				reason, fix := engine.Reason(err)
				if unbound == nil {
					unbound = withHint(fail(Usage, "%s", reason), "%s", fix)
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
	known := engine.AllPrograms(s.engines)
	for _, text := range f.list {
		name, _, _ := strings.Cut(text, "=")
		if !asked[name] {
			program, level, _ := strings.Cut(name, ":")
			hint := fmt.Sprintf("a study asks by build: [%s] in its environments", level)
			if k := slices.IndexFunc(known, func(p engine.Program) bool { return p.Name == program && len(p.With) > 0 }); k >= 0 {
				hint += "; its " + program + " an engine starts only where " + known[k].Needs() + " is named"
			}
			return nil, nil, withHint(fail(Usage, "--build %s: no environment of this study asks for the build %s of %s", text, level, program), "%s", hint)
		}
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
