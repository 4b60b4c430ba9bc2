package cli

import (
	"github.com/spf13/cobra"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/measure/study"
	"plimsoll/internal/measure/workload"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/advise"
)

// engines are what a World measures.
type engines = []engine.Engine

// measuring lists the commands that need engines, or what only a system that
// has them knows.
func measuring(w World) []*cobra.Command {
	all := []*cobra.Command{
		runCommand(w),
		planCommand(w),
		enginesCommand(w),
		doctorCommand(w),
		featuresCommand(w),
		studiesCommand(w),
		workloadsCommand(w),
		imageCommand(w),
		selftestCommand(w),
		explainCommand(w),
		ablateCommand(w),
		abCommand(w),
		bisectCommand(w),
		releasesCommand(w),
		floorCommand(w),
		tuneCommand(w),
		cleanCommand(w),
		agentCommand(w),
	}
	for _, c := range all {
		scoped(w, c)
	}
	return all
}

// hidden lists the commands that nobody types.
func hidden(w World) []*cobra.Command { return []*cobra.Command{onHostCommand(w)} }

// knownWorkloads gives the metrics of each workload that a profile can name
// beside those of the runs: the catalogue's.
func knownWorkloads(advise.Profile) map[string][]string {
	known := map[string][]string{}
	for _, x := range workload.Catalogue() {
		known[x.Name] = lists.Map(x.Metrics, func(m record.Metric) string { return m.ID })
	}
	return known
}

// claimsOf reads the claims of a study, or of a file of claims.
func claimsOf(w World, nameOrPath string) ([]record.Claim, error) {
	s, err := newSetting(w)
	if err != nil {
		return nil, err
	}
	claims, err := study.Claims(nameOrPath, s.studyCatalogue())
	if err != nil {
		return nil, &exitError{status: Usage, err: err}
	}
	return claims, nil
}

// probeDigest names the probe that this program carries.
func probeDigest() string { return probe.Digest() }
