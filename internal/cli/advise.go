package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/common/yamlfile"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/advise"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/profile"
	"plimsoll/internal/understand/report"
)

type adviseFlags struct {
	printing
	profile  string
	weights  []string
	require  []string
	features string
	hosts    hostFlags
}

func adviseCommand(w World) *cobra.Command {
	f := adviseFlags{printing: printing{format: "text"}}
	c := &cobra.Command{
		Use:   "advise DIR...",
		Short: "Recommend an environment for a purpose, and say how far the data support it",
		Long: `Ranks the environments of one or more runs for a use: by the criteria and weights
of a profile, within its hard constraints, with the case for and against each. It
says what is not known. Where the data support no first place it names none, and
says what would settle it. Runs of several hosts, or a folder of them, are ranked
host by host: what comes first on all of them.

` + profileList() + `
A profile can also be a file of yours (--profile ./mine.yaml), and weights alone
make one too: --weight hello/startup=3 --weight nginx/requests=1.`,
		Example: `  plimsoll run advise -o result
  plimsoll features -o result
  plimsoll advise result --profile faas
  plimsoll advise result --profile web --weight latency-p99=6 --require rootless
  plimsoll advise results/ --profile faas
  plimsoll advise result --profile ./mine.yaml --format json`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: completeFolders,
		RunE: func(_ *cobra.Command, dirs []string) error {
			all, err := f.hosts.byHost(dirs)
			if err != nil {
				return err
			}
			if all != nil {
				return f.onHosts(w, all)
			}
			a, err := f.advise(dirs)
			if err != nil {
				return err
			}
			return tell(w, &f.printing, report.Advice, a)
		},
	}
	fl := c.Flags()
	fl.StringVar(&f.profile, "profile", "", "what it is for: a profile's name, or the path of a file")
	fl.StringArrayVar(&f.weights, "weight", nil, "change a weight: metric=3 or workload/metric=3; 0 drops the criterion")
	fl.StringSliceVar(&f.require, "require", nil, "also require a property: "+strings.Join(advise.Words(), ", ")+", or the id of a feature; a|b means that either will do")
	fl.StringVar(&f.features, "features", "", "a feature table (default: features.json of the run)")
	f.add(c, report.Advice.Formats()...)
	f.hosts.addBy(c)
	completes(c, "profile", cobra.FixedCompletions(profile.Names(), cobra.ShellCompDirectiveDefault))
	completes(c, "require", completeWords(advise.Words()...))
	completesPaths(c, []string{"json"}, "features")
	return c
}

// onHosts ranks on each host by its own runs.
func (f *adviseFlags) onHosts(w World, all []hostRuns) error {
	if err := ofOneMachine(f.features, "advise", all); err != nil {
		return err
	}
	var each []advise.HostAdvice
	for _, h := range all {
		a, err := f.advise(h.dirs)
		if err != nil {
			return err
		}
		each = append(each, advise.HostAdvice{Label: h.label, Advice: a})
	}
	return tell(w, &f.printing, report.HostAdvice, advise.Hosts(each))
}

// profileList describes the bundled profiles, which are read once: every command line
// is made with their names in its help.
var profileList = sync.OnceValue(func() string {
	var b strings.Builder
	fmt.Fprintln(&b, "Profiles:")
	for _, n := range profile.Names() {
		if p, err := profile.Bundled(n); err == nil {
			fmt.Fprintf(&b, "  %-9s %s\n", n, p.Title)
		}
	}
	return b.String()
})

func (f *adviseFlags) advise(dirs []string) (*advise.Advice, error) {
	results, err := lists.Try(dirs, readResult)
	if err != nil {
		return nil, err
	}
	p, err := f.use(results)
	if err != nil {
		return nil, err
	}
	features, err := f.table(dirs)
	if err != nil {
		return nil, err
	}
	a, err := advise.Run(results, features, p, advise.Options{Known: knownWorkloads(p)})
	var unknown *advise.UnknownError
	switch {
	case errors.As(err, &unknown):
		e := fail(Usage, "%w", err)
		if near := yamlfile.Nearest(unknown.Word, unknown.Known); near != "" {
			return nil, withHint(e, "did you mean %q?", near)
		}
		if unknown.What == "property" && features == nil {
			return nil, withHint(e, "to require features by their ids, make a feature table first: plimsoll features -o %s", dirs[0])
		}
		return nil, e
	case err != nil:
		return nil, fail(Usage, "%w", err)
	}
	return a, nil
}

// use is the profile with what the command line changes of it.
func (f *adviseFlags) use(results []*analyze.Result) (advise.Profile, error) {
	p, err := f.read()
	if err != nil {
		return p, err
	}
	for _, s := range f.weights {
		key, value, ok := strings.Cut(s, "=")
		if !ok || key == "" {
			return p, fail(Usage, "--weight is %q: expected metric=3 or workload/metric=3", s)
		}
		n, err := profile.Weight(value)
		if err != nil {
			return p, fail(Usage, "--weight %s: %w", key, err)
		}
		if f.profile == "" {
			err = addCriterion(&p, key, n, results)
		} else {
			err = setWeight(&p, key, n)
		}
		if err != nil {
			return p, err
		}
	}
	for _, words := range f.require {
		p.Require = append(p.Require, advise.Demand{Is: strings.Split(words, "|"), Why: "asked for on the command line", Where: "--require"})
	}
	return p, nil
}

// read reads the profile; without one the weights are the profile.
func (f *adviseFlags) read() (advise.Profile, error) {
	switch {
	case f.profile == "" && len(f.weights) == 0:
		return advise.Profile{}, withHint(fail(Usage, "advice for which use? no --profile is given"), "choose one of %s, a file of yours, or give weights alone: --weight hello/startup=3", strings.Join(profile.Names(), ", "))
	case f.profile == "":
		return advise.Profile{Name: "own", Title: "by weights of your own"}, nil
	case yamlfile.IsName(f.profile) && !strings.HasSuffix(f.profile, ".yaml"):
		p, err := profile.Bundled(f.profile)
		if errors.Is(err, profile.ErrNone) {
			e := fail(Usage, "no profile %q: there are %s", f.profile, strings.Join(profile.Names(), ", "))
			if near := yamlfile.Nearest(f.profile, profile.Names()); near != "" {
				return p, withHint(e, "did you mean %q?", near)
			}
			return p, withHint(e, "name a profile of your own by its path: ./%s.yaml", f.profile)
		}
		return p, err
	}
	data, err := yamlfile.ReadGiven(f.profile)
	if err != nil {
		return advise.Profile{}, fail(Usage, "reading the profile: %w", err)
	}
	p, err := profile.Read(f.profile, data)
	if err != nil {
		return p, fail(Usage, "%w", err)
	}
	return p, nil
}

// setWeight changes the weight of the criteria that a key means.
func setWeight(p *advise.Profile, key string, n float64) error {
	found := false
	var known []string
	for i := range p.Criteria {
		c := &p.Criteria[i]
		known = append(known, c.Workload+"/"+c.Metric)
		if key == c.Metric || key == c.Workload+"/"+c.Metric {
			c.Weight, found = n, true
		}
	}
	if found {
		return nil
	}
	e := fail(Usage, "--weight %s: profile %s has no such criterion: it has %s", key, p.Name, strings.Join(known, ", "))
	if near := yamlfile.Nearest(key, known); near != "" {
		return withHint(e, "did you mean %q?", near)
	}
	return withHint(e, "to add criteria, write a profile of your own")
}

// addCriterion makes a criterion of a weight alone; what is better is the
// metric's own direction.
func addCriterion(p *advise.Profile, key string, n float64, results []*analyze.Result) error {
	i := strings.LastIndexByte(key, '/')
	if i <= 0 {
		return fail(Usage, "--weight %s: without a profile, expected workload/metric=3, such as hello/startup=3", key)
	}
	c := advise.Criterion{Workload: key[:i], Metric: key[i+1:], Weight: n, Why: "asked for on the command line", Where: "--weight"}
	for _, r := range results {
		for k := range r.Workloads {
			w := &r.Workloads[k]
			if t := w.Table(c.Metric); t != nil && (w.ID == c.Workload || w.Name == c.Workload) {
				c.Better = t.Metric.Better
			}
		}
	}
	if slices.ContainsFunc(p.Criteria, func(o advise.Criterion) bool { return o.Workload == c.Workload && o.Metric == c.Metric }) {
		return fail(Usage, "--weight %s is given twice", key)
	}
	p.Criteria = append(p.Criteria, c)
	return nil
}

// table reads the feature table: the one that is named, else that of the first
// run that has one.
func (f *adviseFlags) table(dirs []string) (*record.Features, error) {
	if f.features != "" {
		t, err := record.ReadFeatures(f.features)
		if err != nil {
			return nil, withHint(fail(Usage, "%w", err), "plimsoll features -o FILE makes one")
		}
		return t, nil
	}
	for _, dir := range dirs {
		t, err := record.ReadFeatures(dir)
		switch {
		case err == nil:
			return t, nil
		case !errors.Is(err, fs.ErrNotExist):
			return nil, fail(Failed, "%w", err)
		}
	}
	return nil, nil
}
