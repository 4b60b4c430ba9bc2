package cli

import (
	"fmt"

	"github.com/spf13/cobra"
)

// shells are how each takes its completions, in this session and in all that follow.
var shells = map[string]struct{ title, long, example string }{
	"bash":       {"bash", "Prints the completions of bash, which needs its package bash-completion. The first example\nloads them here, the second, as root, for everybody.", "  source <(plimsoll completion bash)\n  plimsoll completion bash > /etc/bash_completion.d/plimsoll"},
	"zsh":        {"zsh", "Prints the completions of zsh. The first example loads them here, the second for every\nnew session; compinit has to be loaded before (autoload -U compinit; compinit).", "  source <(plimsoll completion zsh)\n  plimsoll completion zsh > \"${fpath[1]}/_plimsoll\""},
	"fish":       {"fish", "Prints the completions of fish. The first example loads them here, the second for every\nnew session.", "  plimsoll completion fish | source\n  plimsoll completion fish > ~/.config/fish/completions/plimsoll.fish"},
	"powershell": {"PowerShell", "Prints the completions of PowerShell. The example loads them here; in the profile it does\nso for every new session.", "  plimsoll completion powershell | Out-String | Invoke-Expression"},
}

// ownHelp makes the two commands that come with the library speak as ours do: a word
// that names no command or shell is wrong usage, and both have examples.
func ownHelp(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "help":
			c.Use = "help [COMMAND]"
			c.Short = "Show what a command does and takes"
			c.Long = "Shows what a command does and takes, as its --help does."
			c.Example = "  plimsoll help run\n  plimsoll help bisect step"
			c.RunE = help
		case "completion":
			c.Use = "completion SHELL"
			c.Short = "Print what makes your shell complete engines, levels, studies and metrics"
			c.Long = "Prints a script that makes your shell complete commands, engines, levels, studies,\nmetrics and what is in a run. The --help of each shell says where to keep it."
			c.Example = "  source <(plimsoll completion bash)\n  plimsoll completion zsh --help"
			c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
			for _, shell := range c.Commands() {
				if x, ours := shells[shell.Name()]; ours {
					shell.Short, shell.Long, shell.Example = "Print the completions of "+x.title, x.long, x.example
				}
			}
			wrapArgs(c)
		}
	}
}

// help shows the help of the command that the arguments lead to.
func help(c *cobra.Command, args []string) error {
	of, rest, err := c.Root().Find(args)
	switch {
	case err != nil:
		return argumentSlip(of, args, err)
	case len(rest) > 0 && of.HasAvailableSubCommands():
		return argumentSlip(of, rest, fmt.Errorf("unknown command %q for %q", rest[0], of.CommandPath()))
	}
	of.InitDefaultHelpFlag()
	of.InitDefaultVersionFlag()
	return of.Help()
}
