//go:build !linux

package cli

import (
	"github.com/spf13/cobra"

	"plimsoll/internal/understand/report"
)

// runByInterface is the run of systems other than Linux.
func runByInterface(w World) *cobra.Command {
	a := &portableAsked{report: reportFlags{format: "text"}}
	var f portableFlags
	c := &cobra.Command{
		Use:   "run [STUDY]",
		Short: "Measure Docker and Podman by their interfaces, and print the table",
		Long: `Measures Docker and Podman by their API and their command: Docker Desktop, a Podman
machine, Colima, Rancher Desktop, or a daemon elsewhere by a Docker context, TCP with
TLS or ssh. The other environments of a study are listed as unavailable. plimsoll doctor
says what this leaves out.`,
		Example: `  plimsoll run
  plimsoll run quick --engine docker --blocks 20
  plimsoll run ./my.yaml -o results
  plimsoll run --resume results`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := portableOnly(cmd, args); err != nil {
				return err
			}
			a.study, a.archives = studyName(args), f.archives
			return runPortable(w, a)
		},
	}
	a.report.add(c, report.Formats()...)
	f.add(c)
	c.Flags().StringVar(&a.scale, "scale", "", "a scale that the study defines, such as quick (default: full)")
	c.Flags().StringSliceVar(&a.parts, "part", nil, "measure only these parts of the study")
	c.Flags().StringSliceVar(&a.engines, "engine", nil, "measure only these engines of the study")
	c.Flags().Var(natural{&a.blocks}, "blocks", "number of blocks, instead of the study's")
	c.Flags().Uint64Var(&a.seed, "seed", 0, "seed of the order, instead of the study's (0: drawn and recorded)")
	c.Flags().BoolVar(&a.small, "small", false, "every workload at its small levels, except for parameters that the study names")
	c.Flags().StringVarP(&a.dir, "output", "o", "", "directory of the record (default plimsoll-run-TIME-STUDY)")
	c.Flags().StringVar(&a.resume, "resume", "", "resume the run in this directory")
	c.Flags().BoolVar(&a.unlike, "unlike", false, "with --resume: continue with another engine, version or machine than the run began with")
	return c
}

func enginesByInterface(w World) *cobra.Command {
	format := "text"
	c := &cobra.Command{Use: "engines [NAME...]", Short: "Show how Docker and Podman are reached, and what measuring them so leaves out",
		Example: "  plimsoll engines\n  plimsoll engines docker",
		RunE:    func(cmd *cobra.Command, names []string) error { return enginesPortable(cmd, w, names, format) }}
	return shown(c, &format)
}

func doctorByInterface(w World) *cobra.Command {
	format := "text"
	c := &cobra.Command{Use: "doctor", Short: "Show what a measurement by the engines' interfaces leaves out here", Args: cobra.NoArgs,
		Example: "  plimsoll doctor\n  plimsoll doctor --format json",
		RunE:    func(cmd *cobra.Command, _ []string) error { return doctorPortable(cmd, w, format) }}
	return shown(c, &format)
}

func cleanByInterface(w World) *cobra.Command {
	format := "text"
	c := &cobra.Command{Use: "clean", Short: "Remove whatever a killed run left behind", Args: cobra.NoArgs,
		Example: "  plimsoll clean",
		RunE:    func(cmd *cobra.Command, _ []string) error { return cleanPortable(cmd, w, format) }}
	return shown(c, &format)
}

// shown adds what these commands have in common; --portable is for scripts that are
// used on Linux too.
func shown(c *cobra.Command, format *string) *cobra.Command {
	on := true
	formatFlag(c, format, "text", "json")
	portableFlag(c, &on, "what this system has anyway")
	return c
}
