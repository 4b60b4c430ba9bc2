//go:build !linux

package cli

import (
	"github.com/spf13/cobra"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/advise"
)

// engines are none where nothing can be measured.
type engines = []struct{}

// measuring lists the commands of the half that measures by the engines' interfaces,
// and those that are there on Linux only, so that a manual that names one leads to an
// answer.
func measuring(w World) []*cobra.Command {
	out := []*cobra.Command{runByInterface(w), enginesByInterface(w), doctorByInterface(w), cleanByInterface(w)}
	for _, name := range []string{"plan", "features", "studies", "workloads", "image", "selftest", "explain", "ablate", "ab", "bisect", "releases", "floor", "tune", "agent"} {
		out = append(out, &cobra.Command{
			Use:                name,
			Short:              "(on Linux only)",
			DisableFlagParsing: true,
			RunE: func(cmd *cobra.Command, _ []string) error {
				return onLinux(cmd.CommandPath())
			},
		})
	}
	return out
}

// hidden are commands of what measures.
func hidden(World) []*cobra.Command { return nil }

// onLinux says that something is not to be had on this system.
func onLinux(what string) error {
	return withHint(fail(NothingHere, "%s works on Linux only: on this system Plimsoll measures by the engines' interfaces, and reads results", what),
		"measure on Linux, and copy the run's directory to this machine")
}

// knownWorkloads takes a profile at its word: the catalogue that could find a
// slip in it belongs to what measures.
func knownWorkloads(p advise.Profile) map[string][]string {
	known := map[string][]string{}
	for _, c := range p.Criteria {
		known[c.Workload] = append(known[c.Workload], c.Metric)
	}
	return known
}

// claimsOf would need the catalogue of engines to read a study.
func claimsOf(_ World, nameOrPath string) ([]record.Claim, error) {
	return nil, onLinux("--study " + nameOrPath)
}

// probeDigest is of no probe.
func probeDigest() string { return "" }
