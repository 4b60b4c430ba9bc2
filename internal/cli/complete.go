package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/words"
)

// yamlEndings are those of the files that people write.
var yamlEndings = []string{"yaml", "yml"}

// completes lets a shell complete the values of a flag. Of one that takes several with
// commas between, those that stand there already stay.
func completes(c *cobra.Command, flag string, f cobra.CompletionFunc) {
	if fl := c.Flags().Lookup(flag); fl != nil && fl.Value.Type() == "stringSlice" {
		f = behindCommas(f)
	}
	_ = c.RegisterFlagCompletionFunc(flag, f) // it fails only for a flag that is not there
}

// numbersAreNoFiles keeps a shell from offering files for what takes a number or a time.
func numbersAreNoFiles(c *cobra.Command) {
	c.Flags().VisitAll(func(f *pflag.Flag) {
		t := f.Value.Type()
		if _, own := c.GetFlagCompletionFunc(f.Name); own || !strings.HasPrefix(t, "int") && !strings.HasPrefix(t, "uint") && !strings.HasPrefix(t, "float") && t != "duration" {
			return
		}
		_ = c.RegisterFlagCompletionFunc(f.Name, cobra.NoFileCompletions) // it fails only for a flag that is not there
	})
	for _, sub := range c.Commands() {
		numbersAreNoFiles(sub)
	}
}

// completesPaths lets a shell complete these flags with files, whose names end so
// where an ending is given.
func completesPaths(c *cobra.Command, endings []string, flags ...string) {
	for _, name := range flags {
		_ = c.MarkFlagFilename(name, endings...) // it fails only for a flag that is not there
	}
}

// completesFolders lets a shell complete these flags with folders.
func completesFolders(c *cobra.Command, flags ...string) {
	for _, name := range flags {
		_ = c.MarkFlagDirname(name) // it fails only for a flag that is not there
	}
}

// completeFolders completes the directories of runs.
func completeFolders(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// completeWords completes a few words.
func completeWords(all ...string) cobra.CompletionFunc {
	return cobra.FixedCompletions(all, cobra.ShellCompDirectiveNoFileComp)
}

// behindCommas completes the last of several words, and none that is there already.
func behindCommas(f cobra.CompletionFunc) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		i := strings.LastIndexByte(typed, ',')
		if i < 0 {
			return f(c, args, typed)
		}
		all, directive := f(c, args, typed[i+1:])
		before := strings.Split(typed[:i], ",")
		var out []string
		for _, word := range all {
			if name, _, _ := strings.Cut(word, "\t"); !slices.Contains(before, name) {
				out = append(out, typed[:i+1]+word)
			}
		}
		return out, directive
	}
}

// fromRuns completes with what the runs on the command line have, each a run or a folder
// of runs, behind what there always is.
func fromRuns(of func(*record.Run) []string, always ...string) cobra.CompletionFunc {
	return func(_ *cobra.Command, dirs []string, _ string) ([]string, cobra.ShellCompDirective) {
		all := slices.Clone(always)
		for _, r := range runsNamed(dirs) {
			all = analyze.Also(all, of(r)...)
		}
		return all, cobra.ShellCompDirectiveNoFileComp
	}
}

// runsNamed are the runs in directories, as far as they can be read: what is wrong with
// the others the command itself says.
func runsNamed(dirs []string) (out []*record.Run) {
	for _, dir := range dirs {
		found, _, _ := record.Find([]string{dir}) // none where it holds no run
		for _, one := range found {
			if r, err := record.Open(one); err == nil {
				out = append(out, r.Run())
			}
		}
	}
	return out
}

func environmentsOf(r *record.Run) []string {
	return lists.Map(r.Environments, func(e record.Environment) string { return words.Clean(e.ID) })
}

func enginesOf(r *record.Run) []string {
	return lists.Map(r.Environments, func(e record.Environment) string { return words.Clean(e.Engine) })
}

func workloadsOf(r *record.Run) []string {
	return lists.Map(r.Workloads, func(w record.Workload) string { return words.Clean(w.ID) })
}

// parametersOf are those of all workloads of a run.
func parametersOf(r *record.Run) (out []string) {
	for _, w := range r.Workloads {
		out = append(out, analyze.SortedKeys(w.Params)...)
	}
	return out
}

// claimsOfRun are the claims that a run carries, each with what it says.
func claimsOfRun(r *record.Run) []string { return claimWords(r.Study.Claims) }

// claimWords are claims by the parts of their ids after the slash.
func claimWords(all []record.Claim) []string {
	return lists.Map(all, func(c record.Claim) string {
		name := c.ID
		if _, short, ok := strings.Cut(c.ID, "/"); ok {
			name = short
		}
		return words.Clean(name) + "\t" + words.Clean(c.Says)
	})
}

// cellFactors are what every value of a run is told apart by.
var cellFactors = []string{"environment", "engine", "workload", "metric"}

// factorsOfRun are those, and the factors of the run's environments.
func factorsOfRun(r *record.Run) (out []string) {
	for _, e := range r.Environments {
		out = append(out, analyze.SortedKeys(e.Levels)...)
	}
	return out
}

// completeFilter completes what --filter takes, FACTOR=LEVEL,LEVEL: first the factors of
// the runs on the command line, then the levels of the one that is there.
func completeFilter(c *cobra.Command, dirs []string, typed string) ([]string, cobra.ShellCompDirective) {
	factor, levels, chosen := strings.Cut(typed, "=")
	if !chosen {
		all, _ := fromRuns(factorsOfRun, cellFactors...)(c, dirs, typed)
		return lists.Map(all, func(f string) string { return f + "=" }), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
	of := func(r *record.Run) (out []string) {
		for _, e := range r.Environments {
			if l := e.Levels[factor]; l != "" {
				out = append(out, words.Clean(l))
			}
		}
		return out
	}
	var always []string
	switch factor {
	case "environment":
		of = environmentsOf
	case "engine":
		of = enginesOf
	case "workload":
		of = workloadsOf
	case "metric":
		always = lists.Map(record.LifeCycle, func(m record.Metric) string { return m.ID })
	}
	all, directive := behindCommas(fromRuns(of, always...))(c, dirs, levels)
	return lists.Map(all, func(l string) string { return factor + "=" + l }), directive
}
