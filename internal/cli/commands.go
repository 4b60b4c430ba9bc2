package cli

import "github.com/spf13/cobra"

// commands lists every command; help sorts them by name. A new one is one file
// and one line: here if it reads results, which it then does on every system,
// else in commands_linux.go and by its name in commands_other.go.
func commands(w World) []*cobra.Command {
	return append(measuring(w),
		reportCommand(w),
		factorsCommand(w),
		exportCommand(w),
		importCommand(w),
		compareCommand(w),
		findingsCommand(w),
		adviseCommand(w),
		historyCommand(w),
		serveCommand(w),
		versionCommand(w),
	)
}
