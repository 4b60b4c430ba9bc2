//go:build linux

package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll/internal/measure/study"
)

type studyRow struct {
	Name        string `json:"name"`
	Title       string `json:"title"`
	Description string `json:"description,omitempty"`
	Blocks      int    `json:"blocks"`
	// Scales are the study's other sizes.
	Scales []string `json:"scales,omitempty"`
}

func studiesCommand(w World) *cobra.Command {
	format := "text"
	c := &cobra.Command{
		Use:     "studies",
		Short:   "List the bundled studies, or show the text of one",
		Example: "  plimsoll studies\n  plimsoll studies show quick > my.yaml",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			s, err := newSetting(w)
			if err != nil {
				return err
			}
			cat := s.studyCatalogue()
			var rows []studyRow
			for _, n := range study.Names() {
				st, err := study.Load(n, cat)
				if err != nil {
					return err
				}
				rows = append(rows, studyRow{n, st.Title, st.Description, st.Protocol.Fixed(), scaleNames(st)})
			}
			if format == "json" {
				return printJSON[[]studyRow](w.Stdout, rows)
			}
			tw := columnsOn(w.paper())
			fmt.Fprintln(tw, "STUDY\tBLOCKS\tSCALES\tWHAT IT IS")
			for _, r := range rows {
				fmt.Fprintf(tw, "%s\t%d\t%s\t%s\n", r.Name, r.Blocks, dash(strings.Join(r.Scales, " ")), r.Title)
			}
			return tw.Flush()
		},
	}
	formatFlag(c, &format, "text", "json")
	c.AddCommand(studiesShowCommand(w))
	return c
}

func studiesShowCommand(w World) *cobra.Command {
	protocol, figures, format := false, false, "text"
	c := &cobra.Command{
		Use:               "show NAME",
		Short:             "Print the text of a study, to start your own from, or its paper's protocol or figures",
		Example:           "  plimsoll studies show quick > my.yaml\n  plimsoll studies show baresi2024 --protocol\n  plimsoll studies show baresi2024 --figures",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: completeStudies,
		RunE: func(cmd *cobra.Command, args []string) error {
			if protocol {
				s, err := newSetting(w)
				if err != nil {
					return err
				}
				return showProtocol(w, s, args[0], format)
			}
			if figures {
				return showFigures(w, args[0], format)
			}
			if cmd.Flags().Changed("format") {
				return fail(Usage, "--format goes with --protocol or --figures: the text of a study is YAML")
			}
			src, err := study.Find(args[0])
			if err != nil {
				return &exitError{status: Usage, err: err}
			}
			_, err = w.Stdout.Write(src.Data)
			return err
		},
	}
	c.Flags().BoolVar(&protocol, "protocol", false, "what the paper did, what the study does, and why")
	c.Flags().BoolVar(&figures, "figures", false, "the published figures, how each is drawn, and why some are not")
	c.MarkFlagsMutuallyExclusive("protocol", "figures")
	formatFlag(c, &format, "text", "markdown", "json")
	return c
}
