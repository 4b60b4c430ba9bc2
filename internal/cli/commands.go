package cli

import "github.com/spf13/cobra"

// commands lists every command, in the order in which help shows them by
// group. A new command is one file and one line here.
func commands(w World) []*cobra.Command {
	return []*cobra.Command{
		runCommand(w),
		planCommand(w),
		enginesCommand(w),
		doctorCommand(w),
		reportCommand(w),
		factorsCommand(w),
		featuresCommand(w),
		exportCommand(w),
		importCommand(w),
		compareCommand(w),
		findingsCommand(w),
		adviseCommand(w),
		historyCommand(w),
		serveCommand(w),
		studiesCommand(w),
		workloadsCommand(w),
		imageCommand(w),
		selftestCommand(w),
		cleanCommand(w),
		versionCommand(w),
	}
}
