//go:build linux

package cli

import (
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/internal/common/safepath"
	"plimsoll/internal/measure/fleet"
	"plimsoll/internal/measure/study"
)

// filePrefix begins a place that is a file with hosts.
const filePrefix = "file:"

// onValue is what --on takes: one of a few words, hosts, or a file of hosts.
type onValue struct{ choice }

// Set takes the word; the hosts in it are looked at when all is known.
func (o onValue) Set(s string) error {
	if strings.HasPrefix(s, fleet.Scheme) || strings.HasPrefix(s, filePrefix) {
		*o.value = s
		return nil
	}
	if !slices.Contains(o.words, s) {
		return fail(Usage, "it can be %s, %s… or %s…", strings.Join(o.words, ", "), fleet.Scheme, filePrefix)
	}
	*o.value = s
	return nil
}

// Type has no sign beyond ASCII: the library counts bytes where it lines up the help.
func (o onValue) Type() string { return strings.Join(o.words, "|") + "|ssh://HOST,...|file:HOSTS.yaml" }

// completeOn completes the forms of --on, and the hosts of ssh's configuration.
func completeOn(words []string) func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		switch {
		case strings.HasPrefix(typed, fleet.Scheme):
			before := fleet.Scheme
			if i := strings.LastIndex(typed, ","); i >= 0 {
				before = typed[:i+1]
			}
			var out []string
			for _, h := range sshAliases() {
				out = append(out, before+h)
			}
			return out, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
		case strings.HasPrefix(typed, filePrefix):
			found, _ := filepath.Glob(strings.TrimPrefix(typed, filePrefix) + "*.yaml") // a pattern that is none finds nothing
			for i := range found {
				found[i] = filePrefix + found[i]
			}
			return found, cobra.ShellCompDirectiveNoFileComp
		}
		return append(slices.Clone(words), fleet.Scheme, filePrefix), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
}

// sshAliases are the hosts that ssh's configuration names.
func sshAliases() (out []string) {
	data, err := safepath.ReadRegular(filepath.Join(os.Getenv("HOME"), ".ssh/config"), 1<<20, "the configuration of ssh")
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(data)) {
		f := strings.Fields(line)
		if len(f) > 1 && strings.EqualFold(f[0], "host") {
			for _, name := range f[1:] {
				if fleet.IsHost(name) {
					out = append(out, name)
				}
			}
		}
	}
	return out
}

// hostsFlags are for a run on other hosts.
type hostsFlags struct {
	become   bool
	programs map[string]string
	lost     time.Duration
}

// lostAfter is how long a host may be out of reach before the run ends without it.
const lostAfter = 10 * time.Minute

func (h *hostsFlags) add(c *cobra.Command) {
	fl := c.Flags()
	fl.BoolVar(&h.become, "become", false, "with --on ssh://: become root there by sudo, which must not ask for a password")
	fl.StringToStringVar(&h.programs, "program", nil, "with --on ssh://: a static program for hosts with another processor, as ARCH=PATH, such as arm64=dist/plimsoll-linux-arm64 (default: one of that name next to this one)")
	fl.DurationVar(&h.lost, "lost-after", lostAfter, "with --on ssh://: how long to try to reach a host again after its connection was lost; its run goes on meanwhile")
}

// byHosts says whether a run is one on other hosts: a new one or one that was begun
// so.
func (a *runAsked) byHosts(cmd *cobra.Command) (bool, error) {
	on := a.where.on
	if strings.HasPrefix(on, fleet.Scheme) || strings.HasPrefix(on, filePrefix) || a.resume != "" && fleet.Kept(a.resume) {
		return true, a.checkHosts(cmd)
	}
	if flag := firstGiven(cmd, flagsFor(ofHosts)); flag != "" {
		return false, fail(Usage, "--%s is for other hosts: give --on ssh://HOST with it", flag)
	}
	return false, nil
}

// checkHosts refuses what is of one machine, or of a cluster.
func (a *runAsked) checkHosts(cmd *cobra.Command) error {
	if flag := firstGiven(cmd, append(flagsFor(ofJob), "hosts")); flag != "" {
		return fail(Usage, "--%s is not for hosts that ssh reaches", flag)
	}
	if flag := firstGiven(cmd, []string{"gate", "gate-env", "budget", "fail-above", "thresholds"}); flag != "" {
		return withHint(fail(Usage, "--%s is of one machine's run", flag), "measure first, then hold a host's record against another one: plimsoll compare BASE NEW --fail-above 5%%")
	}
	if flag := firstGiven(cmd, []string{"noise", "agent", "build", "builds", "run-id"}); flag != "" {
		return withHint(fail(Usage, "--%s names what is on this machine, and the study runs on others", flag), "leave it out")
	}
	if cmd.ArgsLenAtDash() >= 0 {
		return withHint(fail(Usage, "--on ssh:// takes a study, and not a command of your own"), "write the command into a workload's file, and run a study of that")
	}
	for arch := range maps.Keys(a.hosts.programs) {
		if !slices.Contains([]string{"amd64", "arm64"}, arch) {
			return fail(Usage, "--program names a program for %q: expected amd64 or arm64", arch)
		}
	}
	if a.hosts.lost < 0 {
		return fail(Usage, "--lost-after is %s: expected a time such as 10m", a.hosts.lost)
	}
	return fits(a.format, false, a.resume != "")
}

// firstGiven is the first of these flags that the command line has.
func firstGiven(cmd *cobra.Command, flags []string) string {
	if i := slices.IndexFunc(flags, cmd.Flags().Changed); i >= 0 {
		return flags[i]
	}
	return ""
}

// targetsOf are the hosts that --on names.
func targetsOf(on string, become bool) (all []fleet.Target, err error) {
	if path, is := strings.CutPrefix(on, filePrefix); is {
		all, err = fleet.ReadHosts(path)
	} else {
		all, err = fleet.ParseTargets(on)
	}
	if err != nil {
		return nil, fail(Usage, "%w", err)
	}
	for i := range all {
		all[i].Become = all[i].Become || become
	}
	return all, nil
}

// drawnSeed is a seed for all hosts, where none was given.
func drawnSeed() uint64 { return 1 + rand.Uint64N(study.MaxSeed) }
