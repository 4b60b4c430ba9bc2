package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"plimsoll/internal/engine"
)

func enginesCommand(w World) *cobra.Command {
	format := "text"
	c := &cobra.Command{
		Use:   "engines [NAME...]",
		Short: "Say which engines can be measured here, which not, why, and what would help",
		Example: `  plimsoll engines
  plimsoll engines docker podman
  plimsoll engines --format json`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, names []string) error {
			s, err := newSetting(w)
			if err != nil {
				return err
			}
			for _, n := range names {
				if !slices.ContainsFunc(s.engines, func(e engine.Engine) bool { return e.Info().Name == n }) {
					return fail(Usage, "no engine %q: there are %s", n, strings.Join(s.engineNames(), ", "))
				}
			}
			all := s.detect(cmd.Context(), names...)
			if format == "json" {
				return printJSON(w.Stdout, enginesJSON(all))
			}
			return printEngines(w, all)
		},
	}
	formatFlag(c, &format, "text", "json")
	c.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		s, err := newSetting(w)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		return s.engineNames(), cobra.ShellCompDirectiveNoFileComp
	}
	return c
}

func (s *setting) engineNames() []string {
	names := make([]string, len(s.engines))
	for i, e := range s.engines {
		names[i] = e.Info().Name
	}
	return names
}

// engineJSON is one engine in --format json.
type engineJSON struct {
	Name     string                 `json:"name"`
	Title    string                 `json:"title"`
	Baseline bool                   `json:"baseline"`
	Verified bool                   `json:"verified"`
	Usable   bool                   `json:"usable"`
	Version  string                 `json:"version,omitempty"`
	Where    string                 `json:"where,omitempty"`
	Facts    map[string]string      `json:"facts,omitempty"`
	Levels   map[string][]levelJSON `json:"levels,omitempty"`
	Reason   string                 `json:"reason,omitempty"`
	Fix      string                 `json:"fix,omitempty"`
}

type levelJSON struct {
	Name   string `json:"name"`
	Usable bool   `json:"usable"`
	Reason string `json:"reason,omitempty"`
	Fix    string `json:"fix,omitempty"`
}

func enginesJSON(all []found) []engineJSON {
	out := make([]engineJSON, 0, len(all))
	for _, f := range all {
		e := engineJSON{
			Name: f.Info.Name, Title: f.Info.Title, Baseline: f.Info.Baseline, Verified: !f.Info.Unverified,
			Usable: f.Usable, Version: f.Version, Where: f.Where, Facts: f.Facts, Reason: f.Reason, Fix: f.Fix,
		}
		for factor, ls := range f.Levels {
			if e.Levels == nil {
				e.Levels = map[string][]levelJSON{}
			}
			for _, l := range ls {
				e.Levels[factor] = append(e.Levels[factor], levelJSON(l))
			}
		}
		out = append(out, e)
	}
	return out
}

// printEngines prints a table of what works and, below it, what does not.
func printEngines(w World, all []found) error {
	tw := tabwriter.NewWriter(w.Stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintln(tw, "ENGINE\tVERSION\tWHERE\tWHAT CAN BE VARIED HERE")
	for _, f := range all {
		if f.Usable {
			fmt.Fprintf(tw, "%s\t%s\t%s\t%s\n", name(f), dash(f.Version), dash(f.Where), dash(usableLevels(f)))
		}
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	var lines []string
	for _, f := range all {
		if !f.Usable {
			lines = append(lines, missing(name(f), f.Reason, f.Fix))
			continue
		}
		for _, factor := range slices.Sorted(maps.Keys(f.Levels)) {
			for _, l := range f.Levels[factor] {
				if !l.Usable {
					lines = append(lines, missing(fmt.Sprintf("%s %s=%s", f.Info.Name, factor, l.Name), l.Reason, l.Fix))
				}
			}
		}
	}
	if len(lines) > 0 {
		fmt.Fprintln(w.Stdout, "\nNot usable here:")
		for _, l := range lines {
			fmt.Fprintln(w.Stdout, l)
		}
	}
	return nil
}

func name(f found) string {
	if f.Info.Unverified {
		return f.Info.Name + " (unverified)"
	}
	return f.Info.Name
}

func usableLevels(f found) string {
	var parts []string
	for _, factor := range engine.Factors {
		var ls []string
		for _, l := range f.Levels[factor] {
			if l.Usable {
				ls = append(ls, l.Name)
			}
		}
		if len(ls) > 1 {
			parts = append(parts, factor+"="+strings.Join(ls, "|"))
		}
	}
	return strings.Join(parts, " ")
}

func missing(what, reason, fix string) string {
	s := "  " + what + ": " + reason
	if fix != "" {
		s += "\n    try: " + fix
	}
	return s
}
