//go:build linux

package cli

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/report"
)

// abBegins is how the command that repeats a run of plimsoll ab begins.
const abBegins = "plimsoll ab "

// ofAb says whether a run is one of plimsoll ab.
func ofAb(r *record.Run) bool {
	return strings.HasPrefix(r.Study.Command, abBegins) && ofTwo(r.Builds) && len(r.Study.Metrics) > 0
}

// ofTwo says whether builds are those of the two levels: a set has several of each.
func ofTwo(builds []record.Build) bool {
	had := map[string]int{}
	for _, b := range builds {
		had[b.Level]++
	}
	return len(had) == len(abLevels) && had[abLevels[0]] > 0 && had[abLevels[0]] == had[abLevels[1]]
}

// abOf is what plimsoll ab began and plimsoll run --resume has finished, so that it ends
// with the same line; nil for other runs, and for a format that the answer has not.
func abOf(dir string, f reportFlags, g *gating) *abRun {
	from, err := openRun(dir)
	if err != nil {
		return nil
	}
	r := from.Run()
	if !ofAb(r) || !slices.Contains(report.Pairs.Formats(), f.format) {
		return nil
	}
	x := &abRun{abFlags: &abFlags{printing: printing{format: f.format, style: f.style}}, program: r.Builds[0].Program, asked: r.Study.Metrics, gating: g}
	x.strict = g != nil && g.strict
	for _, level := range abLevels {
		for _, e := range r.Environments {
			if e.Levels[engine.Build] == level {
				x.envs = append(x.envs, e.ID)
			}
		}
	}
	if len(x.envs) != len(abLevels) {
		return nil
	}
	return x
}

// toldAgain refuses flags of measuring where a run is only told again; takes are the
// others.
func toldAgain(fl *pflag.FlagSet, takes ...string) error {
	var no []string
	fl.Visit(func(f *pflag.Flag) {
		if !slices.Contains(takes, f.Name) {
			no = append(no, "--"+f.Name)
		}
	})
	if len(no) == 0 {
		return nil
	}
	return fail(Usage, "with the directory of a run nothing is measured or judged anew: it takes no %s", strings.Join(no, " and no "))
}

// again tells of a run of plimsoll ab that was measured before.
func (f *abFlags) again(w World, dir string, fl *pflag.FlagSet) error {
	if knownProgram(w, dir) {
		return fail(Usage, "expected the files of two builds of it: plimsoll ab %s OLD NEW", dir)
	}
	from, err := openRun(dir)
	if err != nil {
		return err
	}
	if err := toldAgain(fl, "format", "output", "ascii", "raw-csv"); err != nil {
		return withHint(err, "plimsoll compare %s --env A --env B judges it by other thresholds", shortPath(dir))
	}
	g, err := newGating(from.Run())
	if err != nil {
		return err
	}
	x := abOf(dir, reportFlags{format: f.format, style: f.style}, g)
	if x == nil {
		return withHint(fail(Usage, "%s is not a run of plimsoll ab", shortPath(dir)), "plimsoll report %s shows it", shortPath(dir))
	}
	x.printing = f.printing
	res, err := readResult(dir)
	if err != nil {
		return err
	}
	return x.tell(w, res)
}
