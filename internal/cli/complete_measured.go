//go:build linux

package cli

import (
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/measure/collect"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/imagestore"
	"plimsoll/internal/measure/study"
	"plimsoll/internal/measure/workload"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
)

// completeEngine completes an engine of which something holds, and behind it its levels:
// NAME=LEVEL of one factor after the other.
func completeEngine(w World, holds func(engine.Info) bool) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return enginesThat(w, holds), cobra.ShellCompDirectiveDefault
		}
		return completeLevels(w, typed, func(i engine.Info) bool { return i.Name == args[0] })
	}
}

// completeLevels completes NAME=LEVEL of the factors of the engines of which something
// holds: first the factors, then the levels of the one that is there.
func completeLevels(w World, typed string, holds func(engine.Info) bool) ([]string, cobra.ShellCompDirective) {
	s, err := newSetting(w)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	levels := map[string][]string{}
	for _, e := range s.engines {
		if i := e.Info(); holds(i) {
			for factor, l := range i.Levels {
				levels[factor] = analyze.Also(levels[factor], l...)
			}
		}
	}
	factor, _, chosen := strings.Cut(typed, "=")
	if !chosen {
		all := slices.DeleteFunc(slices.Sorted(maps.Keys(levels)), func(f string) bool { return !slices.Contains(engine.Factors, f) })
		return lists.Map(all, func(f string) string { return f + "=" }), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
	return lists.Map(levels[factor], func(l string) string { return factor + "=" + l }), cobra.ShellCompDirectiveNoFileComp
}

// completeBuildLevels completes those of the engine that is named, else of the ones that
// run builds of a program.
func completeBuildLevels(w World, named, program, typed string) ([]string, cobra.ShellCompDirective) {
	return completeLevels(w, typed, func(i engine.Info) bool {
		return i.Name == named || named == "" && i.Runs(program) != nil
	})
}

// realEngine holds of all but those that are only simulated.
func realEngine(i engine.Info) bool { return !i.Simulated }

// completeEngineNames completes the engines of which something holds.
func completeEngineNames(w World, holds func(engine.Info) bool) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return enginesThat(w, holds), cobra.ShellCompDirectiveNoFileComp
	}
}

// completeMechanisms completes what can be taken away from the engine that the command
// line names, or added to it, each with what it is; and from those that it calls.
func completeMechanisms(w World) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		s, err := newSetting(w)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		all := []string{study.AllMechanisms + "\tall that can be taken away", study.AllAdditions + "\tall that can be added"}
		seen := map[string]bool{}
		of := func(own bool) {
			for _, e := range s.engines {
				i := e.Info()
				for _, m := range i.Mechanisms {
					if (len(args) > 0 && i.Name == args[0]) == own && !seen[m.Name] {
						seen[m.Name] = true
						all = append(all, m.Name+"\t"+m.Title)
					}
				}
			}
		}
		of(true)
		of(false)
		return all, cobra.ShellCompDirectiveNoFileComp
	}
}

// completesMeasured lets a shell complete --metric with those of the workload that is to
// run, of the life cycle, and of what is sampled.
func completesMeasured(c *cobra.Command, workloadOf func(args []string) string) {
	completes(c, "metric", func(_ *cobra.Command, args []string, _ string) (all []string, _ cobra.ShellCompDirective) {
		x, _ := workload.Find(workloadOf(args)) // of one that is none the others are there
		own := slices.DeleteFunc(slices.Clone(x.Metrics), func(m record.Metric) bool { return m.Kind != "" })
		for _, m := range slices.Concat(own, record.LifeCycle, collect.Metrics()) {
			all = append(all, metricWord(m))
		}
		return all, cobra.ShellCompDirectiveNoFileComp
	})
}

// completeImages completes the images of the catalogue, each with what it is.
func completeImages(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return lists.Map(imagestore.List(), func(d imagestore.Description) string { return d.Name + "\t" + d.What }), cobra.ShellCompDirectiveNoFileComp
}

// ofStudy completes with what the study has that the command line names.
func ofStudy(of func(*setting, *study.Study) []string) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		s, st, err := namedStudy(args)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		return of(s, st), cobra.ShellCompDirectiveNoFileComp
	}
}

func partsOf(_ *setting, st *study.Study) (out []string) {
	for _, p := range st.Parts {
		if p.Name != "" {
			out = append(out, p.Name+"\t"+p.Title)
		}
	}
	return out
}

// claimsOfStudy are those for which something can be measured.
func claimsOfStudy(_ *setting, st *study.Study) []string {
	return claimWords(slices.DeleteFunc(slices.Clone(st.Claims), func(c record.Claim) bool { return len(c.Tests) == 0 }))
}

// plannedOf are the environments of a study, those that can't run here as well.
func plannedOf(s *setting, st *study.Study) []string {
	p, err := study.Expand(st, s.studyCatalogue(), study.Options{})
	if err != nil {
		return nil
	}
	return lists.Map(p.Environments, func(e record.Environment) string { return e.ID })
}
