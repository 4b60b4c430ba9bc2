package cli

import (
	"fmt"
	"slices"
	"strings"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/compare"
	"plimsoll/internal/understand/analyze/evaluate"
	"plimsoll/internal/understand/analyze/hosts"
	"plimsoll/internal/understand/report"
)

// settleSides tells both sides' hosts apart by one rule: by that of each, where they agree,
// else by that of all.
func (f *compareFlags) settleSides(dirs []string) error {
	rules := map[string]bool{}
	for _, dir := range dirs {
		side := hostFlags{by: f.hosts.by}
		if runs, _, err := record.Find([]string{dir}); err == nil && len(runs) > 1 {
			if _, err := side.settle(runs); err != nil {
				return err
			}
			rules[side.by] = true
		}
	}
	if len(rules) == 1 {
		for by := range rules {
			f.hosts.by = by
		}
		return nil
	}
	runs, _, err := record.Find(dirs)
	if err != nil || len(runs) <= len(dirs) {
		return nil //nolint:nilerr // reading each by itself says what is wrong, with a hint
	}
	_, err = f.hosts.settle(runs)
	return err
}

// onHosts compares where one of the sides is of several hosts; false where none is.
func (f *compareFlags) onHosts(w World, dirs []string) (bool, error) {
	if err := f.settleSides(dirs); err != nil {
		return false, err
	}
	var sides [][]hostRuns
	several := false
	for _, dir := range dirs {
		all, err := f.hosts.byHost([]string{dir})
		if err != nil {
			return false, err
		}
		several = several || all != nil
		sides = append(sides, all)
	}
	if !several {
		return false, nil
	}
	if f.gated() {
		some := sides[slices.IndexFunc(sides, func(s []hostRuns) bool { return s != nil })][0]
		return true, withHint(fail(Usage, "a gate judges two runs of one host, and these are of several"), "give the two runs of one host, such as %s", some.dirs[0])
	}
	if len(f.row)+len(f.col)+len(f.history) > 0 || f.quantile != 0 {
		return true, fail(Usage, "--row, --col, --history and --quantile are for two runs of one host, and these are of several")
	}
	if len(dirs) == 1 {
		return true, f.environmentsOnHosts(w, dirs)
	}
	o, err := f.options()
	if err != nil {
		return true, err
	}
	if len(f.envs) > 0 {
		return true, withHint(fail(Usage, "--env is for two environments of the same runs, and two sides are given"), "--filter environment=%s keeps one environment of both", f.envs[0])
	}
	return true, f.sidesOnHosts(w, dirs, sides, o)
}

// gated says whether a flag of a gate was given.
func (f *compareFlags) gated() bool {
	return f.failAbove != "" || f.file != "" || f.strict || f.missing || f.unlike || f.failures != "" || f.noise != ""
}

// sidesOnHosts compares each host's run of the one side with its run of the other.
func (f *compareFlags) sidesOnHosts(w World, dirs []string, sides [][]hostRuns, o compare.Options) error {
	for i := range sides {
		if sides[i] == nil {
			if _, err := openRun(dirs[i]); err != nil {
				return err
			}
			return withHint(fail(Usage, "%s is of one host, and the other side of several", dirs[i]), "give a folder of runs on either side, or the two runs of one host")
		}
		for _, h := range sides[i] {
			if len(h.dirs) > 1 {
				return withHint(fail(Usage, "%s has %d runs of %s, and one is compared", dirs[i], len(h.dirs), h.label), "leave one of them out, or compare the two: plimsoll compare %s %s", h.dirs[0], h.dirs[1])
			}
		}
	}
	c := hosts.NewComparing(o)
	for _, pair := range f.pairs(sides) {
		if pair.Base.Dir == "" || pair.New.Dir == "" {
			fmt.Fprintf(w.Stderr, "%s%s has a run on one side only (%s): it is left out.\n", statusPrefix, pair.Label, pair.Base.Dir+pair.New.Dir)
			continue
		}
		var results [2]*analyze.Result
		for i, dir := range []string{pair.Base.Dir, pair.New.Dir} {
			r, err := readWith(dir, evaluate.Options{})
			if err != nil {
				return err
			}
			results[i] = r
		}
		if err := c.Add(pair, results[0], results[1]); err != nil {
			return fail(Failed, "comparing runs of several hosts: %w", err)
		}
	}
	if !slices.Contains(report.HostChanges.Formats(), f.format) {
		return notForHosts(f.format, report.HostChanges.Formats())
	}
	changes, err := c.Changes()
	if err != nil {
		return withHint(fail(Failed, "comparing runs of several hosts: %w", err), "the same hosts have to be on both sides; --host-by name goes by their names alone")
	}
	return tell(w, &f.printing, report.HostChanges, changes)
}

// pairs puts the two sides' runs of a host together, in the order of BASE.
func (f *compareFlags) pairs(sides [][]hostRuns) []hosts.ChangedHost {
	var dirs []string
	side := map[string]int{}
	for i, all := range sides {
		for _, h := range all {
			dirs = append(dirs, h.dirs...)
			for _, d := range h.dirs {
				side[d] = i
			}
		}
	}
	groups, err := f.hosts.groupsOf(dirs)
	if err != nil { // they were read a moment ago
		return nil
	}
	var out []hosts.ChangedHost
	for _, g := range groups {
		h := hosts.ChangedHost{Label: g.label}
		for _, d := range g.dirs {
			if side[d] == 0 {
				h.Base.Dir = d
			} else {
				h.New.Dir = d
			}
		}
		out = append(out, h)
	}
	return out
}

// environmentsOnHosts compares two environments of the same runs on each host.
func (f *compareFlags) environmentsOnHosts(w World, dirs []string) error {
	if len(f.envs) != 2 {
		return withHint(fail(Usage, "%s: there is nothing to compare", givenWith("one folder of runs", len(f.envs))), "give a second folder of runs, or two environments by --env A --env B")
	}
	if len(f.filters) > 0 || f.delta != "" {
		return withHint(fail(Usage, "--filter and --delta are for two sides, and two environments of one are compared"), "plimsoll report %s --against %s --metric ID chooses a metric", dirs[0], f.envs[0])
	}
	runs, err := f.hosts.runsOf(dirs)
	if err != nil {
		return err
	}
	h, err := (&hostFlags{by: f.hosts.by, against: f.envs[0]}).gather(runs, "", func(dir string) (*analyze.Result, error) {
		n := narrowFlags{choice: analyze.Choice{Envs: f.envs}}
		return n.read(dir, evaluate.Options{})
	}, nil)
	if err != nil {
		return err
	}
	for i := range h.Tables {
		t := &h.Tables[i]
		t.Rows = slices.DeleteFunc(t.Rows, func(r hosts.Row) bool { return r.Env != f.envs[1] })
	}
	if !slices.Contains(report.Hosts.Formats(), f.format) {
		return notForHosts(f.format, report.Hosts.Formats())
	}
	return tell(w, &f.printing, report.Hosts, h)
}

func notForHosts(format string, known []string) error {
	return fail(Usage, "runs of several hosts are not written as %s: choose one of %s", format, strings.Join(known, ", "))
}
