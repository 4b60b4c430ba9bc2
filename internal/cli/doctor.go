//go:build linux

package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll/internal/common/harmless"
	"plimsoll/internal/measure/host"
	"plimsoll/internal/record"
)

func doctorCommand(w World) *cobra.Command {
	format, byInterface := "text", false
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Show what on this machine would disturb a measurement",
		Long: `Looks at the machine and says what would disturb a measurement, and what to do
about it. Exits with status 5 if numbers measured here could not be trusted.`,
		Example: "  plimsoll doctor\n  plimsoll doctor --format json\n  plimsoll doctor --portable",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if byInterface {
				return doctorPortable(cmd, w, format)
			}
			s, err := newSetting(w)
			if err != nil {
				return err
			}
			facts, err := host.Machine{}.Facts(s.state.Dir)
			if err != nil {
				return err
			}
			facts.Remarks = s.doctor(cmd.Context())
			if format == "json" {
				if err := printJSON[record.Host](w.Stdout, facts); err != nil {
					return err
				}
			} else {
				printHost(w, facts)
			}
			if host.Refused(facts.Remarks) {
				return quiet(NothingHere)
			}
			return nil
		},
	}
	formatFlag(c, &format, "text", "json")
	portableFlag(c, &byInterface, "show what measuring by the engines' interfaces alone leaves out, and how far away the engines are")
	return c
}

// doctor looks at the machine.
func (s *setting) doctor(ctx context.Context) []record.Remark {
	l := host.Machine{}.Doctor(ctx, s.state.Dir, containersOf(s.engines))
	if s.world.Judge != nil {
		l = s.world.Judge(l)
	}
	return l
}

// printHost prints what is known of a machine: what a file, the firmware or a
// process calls itself is not trusted.
func printHost(w World, h record.Host) {
	machine := fmt.Sprintf("%s, %d CPUs (%s), %.1f GiB, %s, kernel %s, cgroup %s", h.OS, h.CPUs, h.CPU, float64(h.Memory)/(1<<30), h.Arch, h.Kernel, h.Cgroup)
	if h.Virtual != "" {
		machine += ", " + h.Virtual
	}
	w.wrapped("", harmless.Text(machine))
	if len(h.Remarks) == 0 {
		fmt.Fprintln(w.Stdout, "Nothing was found that would disturb a measurement.")
	}
	for _, r := range h.Remarks {
		w.wrapped(fmt.Sprintf("%-6s  ", r.Level), r.Code+": "+harmless.Text(r.Text))
		if r.Advice != "" {
			w.wrapped(strings.Repeat(" ", 8), harmless.Text(r.Advice))
		}
	}
	if host.Refused(h.Remarks) {
		fmt.Fprintln(w.Stdout, "Numbers measured here now could not be trusted.")
	}
}
