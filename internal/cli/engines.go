//go:build linux

package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/common/tested"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/understand/words"
)

func enginesCommand(w World) *cobra.Command {
	format, check, every, byInterface := "text", false, false, false
	c := &cobra.Command{
		Use:   "engines [NAME...]",
		Short: "Show which engines can be measured here, which can't, why, and what would help",
		Long: `Looks for every engine that has an adapter and shows what is available here: its
version, storage drivers, runtimes, cgroups, with root and without. For engines
that you name it shows all that is known, and for each level that is missing the
reason and the command that would help. It changes nothing.`,
		Example: `  plimsoll engines
  plimsoll engines docker podman
  plimsoll engines --all              # the simulated engine of the demonstrations too
  plimsoll engines containerd --check && plimsoll run --engine containerd
  plimsoll engines --portable
  plimsoll engines --format json`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, names []string) error {
			if byInterface {
				return enginesPortable(cmd, w, names, format)
			}
			s, err := newSetting(w)
			if err != nil {
				return err
			}
			for _, n := range names {
				if err := s.knows("", n); err != nil {
					return err
				}
			}
			if check && len(names) == 0 {
				return fail(Usage, "--check needs the names of the engines that must be usable")
			}
			if len(names) == 0 && !every {
				s.engines = slices.DeleteFunc(slices.Clone(s.engines), func(e engine.Engine) bool { return e.Info().Simulated })
			}
			all := s.detect(cmd.Context(), names...)
			switch {
			case format == "json":
				err = printJSON[[]engineJSON](w.Stdout, enginesJSON(all))
			case len(names) > 0:
				err = printEngineDetails(w.paper(), all)
			default:
				err = printEngines(w.paper(), all)
			}
			if err == nil && check {
				return unusable(all)
			}
			return err
		},
	}
	formatFlag(c, &format, "text", "json")
	portableFlag(c, &byInterface, "show which engines are reached by their interfaces alone, how, and what measuring so leaves out")
	c.Flags().BoolVar(&every, "all", false, "also show the engine that is only simulated")
	c.Flags().BoolVar(&check, "check", false, "fail (status 5) if one of the named engines is not usable here")
	c.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		s, err := newSetting(w)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		return s.engineNames(), cobra.ShellCompDirectiveNoFileComp
	}
	return c
}

// unusable is the answer of --check.
func unusable(all []found) error {
	var names []string
	for _, f := range all {
		if !f.Usable {
			names = append(names, f.Info.Name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return fail(NothingHere, "not usable here: %s", strings.Join(names, ", "))
}

// engine is the one of a name; nil where there is none.
func (s *setting) engine(name string) engine.Engine {
	for _, e := range s.engines {
		if e.Info().Name == name {
			return e
		}
	}
	return nil
}

func (s *setting) engineNames() []string {
	return lists.Map(s.engines, func(e engine.Engine) string { return e.Info().Name })
}

// enginesThat are the names of the engines of which this holds.
func (s *setting) enginesThat(holds func(engine.Info) bool) (names []string) {
	for _, e := range s.engines {
		if i := e.Info(); holds(i) {
			names = append(names, i.Name)
		}
	}
	return names
}

// engineJSON is one engine in --format json.
type engineJSON struct {
	Name     string                 `json:"name"`
	Title    string                 `json:"title"`
	Baseline bool                   `json:"baseline"`
	Verified bool                   `json:"verified"`
	ByHand   string                 `json:"verifiedByHand,omitempty"` // the version that it was tried with
	Tested   []tested.Entry         `json:"tested,omitempty"`         // the versions with which it was tested
	Judged   map[string]string      `json:"testedVersion,omitempty"`  // how each program's version here relates to them
	Usable   bool                   `json:"usable"`
	Version  string                 `json:"version,omitempty"`
	Where    string                 `json:"where,omitempty"`
	Facts    map[string]string      `json:"facts,omitempty"`
	Levels   map[string][]levelJSON `json:"levels,omitempty"`
	Reason   string                 `json:"reason,omitempty"`
	Fix      string                 `json:"fix,omitempty"`
	// Mechanisms are what plimsoll ablate takes away, or adds.
	Mechanisms []mechanismJSON `json:"mechanisms,omitempty"`
}

type mechanismJSON struct {
	Name   string `json:"name"`
	Factor string `json:"factor"`
	From   string `json:"from"`
	To     string `json:"to"`
	Title  string `json:"title"`
	Price  string `json:"price"`
	Adds   bool   `json:"adds,omitempty"`
}

type levelJSON struct {
	Name   string `json:"name"`
	Usable bool   `json:"usable"`
	Reason string `json:"reason,omitempty"`
	Fix    string `json:"fix,omitempty"`
	// Unverified is true where the level was never run on the real system.
	Unverified bool `json:"unverified,omitempty"`
}

func enginesJSON(all []found) []engineJSON {
	out := make([]engineJSON, 0, len(all))
	for _, f := range all {
		e := engineJSON{
			Name: f.Info.Name, Title: f.Info.Title, Baseline: f.Info.Baseline, Verified: !f.Info.Unverified, ByHand: f.Info.ByHand,
			Usable: f.Usable, Version: f.Version, Where: f.Where, Facts: f.Facts, Reason: f.Reason, Fix: f.Fix,
		}
		for _, p := range versionsOf(f) {
			e.Tested = append(e.Tested, tested.Of(p.Name)...)
			if judged := tested.Judge(p.Name, p.Version, platform()); judged != "" && f.Usable {
				if e.Judged == nil {
					e.Judged = map[string]string{}
				}
				e.Judged[p.Name] = judged
			}
		}
		for _, m := range f.Info.Mechanisms {
			e.Mechanisms = append(e.Mechanisms, mechanismJSON{m.Name, m.Factor, m.From, m.To, m.Title, m.Price, m.Adds})
		}
		for factor, ls := range f.Levels {
			if e.Levels == nil {
				e.Levels = map[string][]levelJSON{}
			}
			for _, l := range ls {
				e.Levels[factor] = append(e.Levels[factor], levelJSON{l.Name, l.Usable, l.Reason, l.Fix, slices.Contains(f.Info.Untried[factor], l.Name)})
			}
		}
		out = append(out, e)
	}
	return out
}

func missing(what, reason, fix string) string {
	reason, fix = words.Prose(reason), words.Prose(fix)
	s := "  " + what + ": " + reason
	if fix != "" {
		s += "\n    try: " + fix
	}
	return s
}

// knows refuses the name of an engine that this plimsoll does not have. what is the flag
// that it came by, or "".
func (s *setting) knows(what, name string) error {
	if slices.Contains(s.engineNames(), name) {
		return nil
	}
	real := s.enginesThat(func(i engine.Info) bool { return !i.Simulated })
	err := fail(Usage, "%sno engine %q: there are %s", what, name, strings.Join(real, ", "))
	if s.isRuntime(name) {
		return withHint(err, "%s is a runtime: of the engine oci, which calls it alone, or of those that call it (oci runtime=%s after explain, ablate and the like; engine: oci, runtime: %s in a study)", name, name, name)
	}
	if what == "" && holdsRun(name) {
		return withHint(err, "%s holds a run: plimsoll report %[1]s prints it again", shortPath(name))
	}
	return didYouMean(err, name, s.engineNames(), "plimsoll engines says of each whether it can be used here")
}

// isRuntime says whether a name is that of a runtime below some engine.
func (s *setting) isRuntime(name string) bool {
	return slices.ContainsFunc(s.engines, func(e engine.Engine) bool {
		i := e.Info()
		return !i.Simulated && name != engine.DefaultLevel && slices.Contains(i.Levels[engine.Runtime], name)
	})
}
