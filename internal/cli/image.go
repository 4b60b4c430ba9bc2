//go:build linux

package cli

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/measure/image"
	"plimsoll/internal/measure/imagestore"
	"plimsoll/internal/measure/probe"
)

func imageCommand(w World) *cobra.Command {
	c := &cobra.Command{
		Use:   "image",
		Short: "List, build, fetch and remove the images that engines start, and show their sizes",
		Example: `  plimsoll image list
  plimsoll image build debian
  plimsoll image pull alpine:3
  plimsoll image sizes busybox`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	c.AddCommand(imageList(w), imageShow(w), imageBuild(w), imagePull(w), imageRemove(w), imageSizes(w))
	return c
}

// store is the image store outside of any run.
func (s *setting) store() *imagestore.Store {
	return imagestore.NewStore(s.state.Images(), probe.Binary(), imagestore.Options{LookPath: s.world.LookPath, Mirror: s.mirror, From: s.world.Getenv(imagesFrom)})
}

// imageRow is an image as list and show give it.
type imageRow struct {
	imagestore.Description
	State  string `json:"state"`
	Reason string `json:"reason,omitempty"`
	Fix    string `json:"fix,omitempty"`
	Digest string `json:"digest,omitempty"`
	Tree   string `json:"tree,omitempty"`
	Bytes  int64  `json:"bytes,omitempty"`
}

type shownImage struct {
	imageRow
	Facts    map[string]string   `json:"facts,omitempty"`
	Packages map[string]string   `json:"packages,omitempty"`
	Formats  []imagestore.Packed `json:"formats,omitempty"`
}

func rowOf(ctx context.Context, store *imagestore.Store, d imagestore.Description) (imageRow, error) {
	r := imageRow{Description: d}
	st, err := store.State(d.Name)
	if err != nil {
		return r, fail(Failed, "%w", err)
	}
	r.State, r.Reason, r.Fix = st.State, st.Reason, st.Fix
	if st.State != imagestore.Ready {
		return r, nil
	}
	im, _, err := store.Peek(ctx, d.Name)
	if err != nil {
		r.State, r.Reason = imagestore.Unavailable, err.Error()
		return r, nil
	}
	r.Digest, r.Tree, r.Bytes = im.Digest, im.Tree, im.Bytes
	return r, nil
}

func imageList(w World) *cobra.Command {
	format := "text"
	c := &cobra.Command{
		Use:     "list",
		Short:   "List the images, with their state, size and digest",
		Args:    cobra.NoArgs,
		Example: "  plimsoll image list --format json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := newSetting(w)
			if err != nil {
				return err
			}
			store := s.store()
			all := imagestore.List()
			fetched, err := store.Fetched()
			if err != nil {
				return fail(Failed, "%w", err)
			}
			for _, ref := range fetched {
				all = append(all, imagestore.Description{Name: ref, What: "an image by reference", How: "plimsoll image pull " + ref})
			}
			rows, err := lists.Try(all, func(d imagestore.Description) (imageRow, error) {
				return rowOf(cmd.Context(), store, d)
			})
			if err != nil {
				return err
			}
			if format == "json" {
				return printJSON[[]imageRow](w.Stdout, rows)
			}
			tw := columnsOn(w.paper())
			fmt.Fprintln(tw, "IMAGE\tSTATE\tUNPACKED\tDIGEST\tWHAT IT IS")
			for _, r := range rows {
				fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\n", r.Name, r.State, sizeText(r.Bytes), dash(shortDigest(r.Digest)), r.What)
			}
			return tw.Flush()
		},
	}
	formatFlag(c, &format, "text", "json")
	return c
}

func imageShow(w World) *cobra.Command {
	format := "text"
	c := &cobra.Command{
		Use:               "show NAME",
		ValidArgsFunction: completeImages,
		Short:             "Show what an image is made of, and which formats it is available in",
		Args:              cobra.ExactArgs(1),
		Example:           "  plimsoll image show debian",
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := newSetting(w)
			if err != nil {
				return err
			}
			store := s.store()
			d, err := imagestore.Describe(args[0])
			if err != nil {
				return &exitError{status: Usage, err: err}
			}
			r, err := rowOf(cmd.Context(), store, d)
			if err != nil {
				return err
			}
			out := shownImage{imageRow: r}
			if r.State == imagestore.Ready {
				st, err := store.State(r.Name)
				if err != nil {
					return fail(Failed, "%w", err)
				}
				_, packed, err := store.Peek(cmd.Context(), r.Name)
				if err != nil {
					return fail(Failed, "%w", err)
				}
				out.Facts, out.Packages, out.Formats = st.Facts, st.Packages, packed
			}
			if format == "json" {
				return printJSON[shownImage](w.Stdout, out)
			}
			printRow(w.paper(), r)
			for _, k := range slices.Sorted(maps.Keys(out.Facts)) {
				fmt.Fprintf(w.Stdout, "  %-16s %s\n", k, out.Facts[k])
			}
			for _, p := range out.Formats {
				fmt.Fprintf(w.Stdout, "  %-16s %s  %s\n", p.Format, sizeText(p.Bytes), p.Path)
			}
			return nil
		},
	}
	formatFlag(c, &format, "text", "json")
	return c
}

func printRow(out io.Writer, r imageRow) {
	fmt.Fprintf(out, "%s: %s\n", r.Name, r.What)
	line := func(k, v string) {
		if v != "" {
			fmt.Fprintf(out, "  %-16s %s\n", k, v)
		}
	}
	line("how", r.How)
	line("state", strings.TrimSuffix(r.State+": "+r.Reason, ": "))
	line("try", r.Fix)
	line("digest", r.Digest)
	line("content", r.Tree)
	if r.Bytes > 0 {
		line("unpacked", fmt.Sprintf("%s (%d bytes)", sizeText(r.Bytes), r.Bytes))
	}
}

func imageBuild(w World) *cobra.Command {
	format := "text"
	as := string(image.Directory)
	c := &cobra.Command{
		Use:               "build NAME",
		ValidArgsFunction: completeImages,
		Short:             "Build an image in one of the engines' formats, and say where it is",
		Long: `Builds an image of the catalogue and packs it in a format. Images made from the
distribution's packages (debian, ubuntu-base, toolbox) need root, debootstrap and
the apt sources of this machine the first time; what is done goes to standard
error. Nothing is installed on the machine itself.`,
		Args: cobra.ExactArgs(1),
		Example: `  plimsoll image build payload --as oci-layout
  plimsoll image build toolbox`,
		RunE: func(cmd *cobra.Command, args []string) error {
			w, ctx, _, stop := w.interrupts()
			defer stop()
			s, err := newSetting(w)
			if err != nil {
				return err
			}
			if _, err := imagestore.Describe(args[0]); err != nil {
				return &exitError{status: Usage, err: err}
			}
			store := s.store()
			im, err := store.Build(ctx, args[0], w.Stderr)
			if err != nil {
				return fail(Failed, "%w", err)
			}
			path, err := store.Path(ctx, args[0], image.Format(as))
			if err != nil {
				return fail(Failed, "%w", err)
			}
			return printBuilt(w, format, im, as, path)
		},
	}
	formatFlag(c, &format, "text", "json")
	choiceFlag(c, &as, "as", "the format", string(image.Directory), string(image.OCILayout), string(image.DockerArchive), string(image.SquashFS), string(image.SIF))
	return c
}

type builtImage struct {
	image.Image
	Format string `json:"format"`
	Path   string `json:"path"`
}

func printBuilt(w World, format string, im image.Image, as, path string) error {
	if format == "json" {
		return printJSON[builtImage](w.Stdout, builtImage{im, as, path})
	}
	fmt.Fprintf(w.Stdout, "%s\n  digest  %s\n  content %s, %d bytes unpacked\n", path, im.Digest, im.Tree, im.Bytes)
	if d := im.Facts["digest"]; d != "" {
		fmt.Fprintf(w.Stdout, "  from    %s@%s\n", im.Facts["reference"], d)
	}
	return nil
}

func imagePull(w World) *cobra.Command {
	format, mirror := "text", ""
	c := &cobra.Command{
		Use:               "pull REF",
		ValidArgsFunction: completeImages,
		Short:             "Fetch an image, or a newer version of it, from its registry",
		Long: `Fetches an image from its registry into the store. REF is a reference, or a name
of the catalogue that stands for one (alpine, ubuntu, centos). A run fetches what
is missing by itself, but takes what is here as it is: only this command looks
for a newer one. The record of a run names the digest.`,
		Args:    cobra.ExactArgs(1),
		Example: "  plimsoll image pull alpine:3\n  plimsoll image pull ubuntu",
		RunE: func(_ *cobra.Command, args []string) error {
			w, ctx, _, stop := w.interrupts()
			defer stop()
			s, err := newSetting(w)
			if err != nil {
				return err
			}
			if err := s.useMirror(mirror); err != nil {
				return err
			}
			store := s.store()
			im, err := store.Fetch(ctx, args[0], w.Stderr)
			if err != nil {
				return fail(Failed, "%w", err)
			}
			path, err := store.Path(ctx, args[0], image.Directory)
			if err != nil {
				return fail(Failed, "%w", err)
			}
			return printBuilt(w, format, im, string(image.Directory), path)
		},
	}
	formatFlag(c, &format, "text", "json")
	mirrorFlag(c, &mirror)
	return c
}

func imageRemove(w World) *cobra.Command {
	return &cobra.Command{
		Use:               "rm NAME...",
		ValidArgsFunction: completeImages,
		Short:             "Remove images from the store, in every format",
		Args:              cobra.MinimumNArgs(1),
		Example:           "  plimsoll image rm toolbox",
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := newSetting(w)
			if err != nil {
				return err
			}
			for _, name := range args {
				if _, err := imagestore.Describe(name); err != nil {
					return &exitError{status: Usage, err: err}
				}
			}
			for _, name := range args {
				if err := s.store().Remove(cmd.Context(), name); err != nil {
					return fail(Failed, "%w", err)
				}
			}
			return nil
		},
	}
}

// shortDigest is a digest as engines print it.
func shortDigest(d string) string {
	d = strings.TrimPrefix(d, "sha256:")
	return d[:min(12, len(d))]
}

// sizeText is a size for people; 0 is none.
func sizeText(n int64) string {
	switch {
	case n <= 0:
		return "-"
	case n < 1<<10:
		return strconv.FormatInt(n, 10) + " B"
	case n < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	case n < 1<<30:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
}
