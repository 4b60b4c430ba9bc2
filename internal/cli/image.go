package cli

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"plimsoll/internal/image"
	"plimsoll/internal/probe"
)

func imageCommand(w World) *cobra.Command {
	c := &cobra.Command{
		Use:     "image",
		Short:   "List the workload images, or build one",
		Example: "  plimsoll image list\n  plimsoll image build payload --as squashfs",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	c.AddCommand(imageList(w), imageBuild(w))
	return c
}

func imageList(w World) *cobra.Command {
	format := "text"
	c := &cobra.Command{
		Use:     "list",
		Short:   "List the workload images",
		Args:    cobra.NoArgs,
		Example: "  plimsoll image list --format json",
		RunE: func(*cobra.Command, []string) error {
			all := image.List()
			if format == "json" {
				return printJSON(w.Stdout, all)
			}
			tw := tabwriter.NewWriter(w.Stdout, 0, 4, 2, ' ', 0)
			fmt.Fprintln(tw, "IMAGE\tWHAT IT IS\tHOW IT IS BUILT")
			for _, d := range all {
				fmt.Fprintf(tw, "%s\t%s\t%s\n", d.Name, d.What, d.How)
			}
			return tw.Flush()
		},
	}
	formatFlag(c, &format, "text", "json")
	return c
}

func imageBuild(w World) *cobra.Command {
	format := "text"
	as := string(image.Directory)
	c := &cobra.Command{
		Use:     "build NAME",
		Short:   "Build a workload image in one of the engines' formats, and say where it lies",
		Args:    cobra.ExactArgs(1),
		Example: "  plimsoll image build payload --as oci-layout",
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := newSetting(w)
			if err != nil {
				return err
			}
			store := image.NewStore(s.state.Images(), probe.Binary(), image.Options{LookPath: w.LookPath})
			im, err := store.Get(cmd.Context(), args[0])
			if err != nil {
				return fail(Failed, "%w", err)
			}
			path, err := store.Path(cmd.Context(), args[0], image.Format(as))
			if err != nil {
				return fail(Failed, "%w", err)
			}
			if format == "json" {
				return printJSON(w.Stdout, struct {
					image.Image
					Format string
					Path   string
				}{im, as, path})
			}
			fmt.Fprintf(w.Stdout, "%s\n  digest  %s\n  content %s, %d bytes unpacked\n", path, im.Digest, im.Tree, im.Bytes)
			return nil
		},
	}
	formatFlag(c, &format, "text", "json")
	choiceFlag(c, &as, "as", "the format", string(image.Directory), string(image.OCILayout), string(image.DockerArchive), string(image.SquashFS), string(image.SIF))
	return c
}
