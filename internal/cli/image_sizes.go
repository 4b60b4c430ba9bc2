//go:build linux

package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"plimsoll/internal/common/harmless"
	"plimsoll/internal/common/safepath"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/run"
	"plimsoll/internal/measure/study"
	"plimsoll/internal/measure/workload"
	"plimsoll/internal/record"
)

// sizeColumns are the columns of the table, in its order.
var sizeColumns = []struct{ id, title string }{
	{workload.SizeCompressed, "COMPRESSED"},
	{workload.MetricTransferred, "TRANSFERRED"},
	{workload.SizeUnpacked, "UNPACKED"},
	{workload.SizeDisk, "ON DISK"},
	{workload.SizeShared, "SHARED"},
	{workload.SizeUnique, "UNIQUE"},
	{workload.SizeConverted, "CONVERTED"},
	{workload.SizeSaved, "SAVED"},
	{workload.SizePrinted, "PRINTED"},
}

func imageSizes(w World) *cobra.Command {
	format := "text"
	var (
		ch   changes
		here turn
	)
	c := &cobra.Command{
		Use:   "sizes [IMAGE...]",
		Short: "Pull images into every engine here, and print their sizes",
		Long: `Has each engine of the study "images" pull each image, by default busybox, from
a registry on loopback, next to another image with the same base, asks it for the
sizes and removes everything again. "Size" means something different in every engine;
these are all of them:

  compressed   configuration and layers as the registry's manifest gives them
  transferred  what left the registry: less if a layer was already there
  unpacked     apparent size of the unpacked files
  on disk      allocated for all that the engine keeps of the image
  shared       the part of that which the other image uses too
  unique       the part of that which this image alone uses
  converted    the archive made of it (SIF, SquashFS)
  saved        the archive that the engine's own command packs of it
               (docker save, podman save, ctr images export, ch-convert)
  printed      the size that the engine itself prints`,
		Example:           "  plimsoll image sizes\n  plimsoll image sizes busybox debian --format json",
		ValidArgsFunction: completeImages,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			w, finish, broken, stop := w.interrupts()
			defer stop()
			s, err := newSetting(w)
			if err != nil {
				return err
			}
			plan, err := s.sizesPlan(finish, args, ch.engines)
			if err != nil {
				return err
			}
			dir, err := os.MkdirTemp("", "plimsoll-sizes-")
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, failing(safepath.RemoveAll(dir))) }()
			o := s.options()
			o.Plan, o.Run, o.Dir = plan, &record.Run{Tool: tool()}, filepath.Join(dir, "record")
			o.Progress, o.Finish, o.Wait = newProgress(w, here.progress), finish.Done(), here.wait
			if err := describeHost(cmd.Context(), s, &o, true); err != nil {
				return err
			}
			sum, err := run.Execute(broken, o)
			if err != nil {
				return fail(Failed, "%w", err) // the record is not kept, so there is nothing to resume
			}
			rows, err := readSizes(o.Dir)
			if err != nil {
				return err
			}
			if err := printSizes(w, format, rows); err != nil {
				return err
			}
			tellLeft(w, sum)
			return sizesStatus(sum)
		},
	}
	c.Flags().StringSliceVar(&ch.engines, "engine", nil, "only these engines")
	completes(c, "engine", completeEngineNames(w, realEngine))
	here.addWaiting(c)
	formatFlag(c, &format, "text", "json")
	return c
}

// sizesPlan is the study images with one pull of each image.
func (s *setting) sizesPlan(ctx context.Context, images, engines []string) (*study.Plan, error) {
	cat := s.studyCatalogue()
	st, err := study.Load("images", cat)
	if err != nil {
		return nil, fail(Failed, "%w", err)
	}
	w, err := workload.Find("pull")
	if err != nil {
		return nil, fail(Failed, "%w", err)
	}
	if len(images) == 0 {
		images = w.Parameters["image"][:1]
	}
	for _, name := range images {
		if _, err := w.Instance(map[string]string{"image": name}); err != nil {
			return nil, &exitError{status: Usage, err: err}
		}
	}
	part := &st.Parts[0] // the bundled study has one
	part.Workloads = []study.Workload{{Name: "pull", Parameters: []study.Axis{
		{Name: "image", Levels: images}, {Name: "cache", Levels: []string{workload.CacheShared}}}}}
	st.Protocol.Blocks, st.Protocol.Warmup = 1, 0
	// These are handed their image when they are opened.
	handed := s.handedOver()
	part.Environments = append(part.Environments, study.Entry{Engines: handed, Factors: []study.Axis{{Name: engine.Image, Levels: images}}})
	if err := s.narrow(st, engines); err != nil {
		return nil, err
	}
	p, err := s.expand(ctx, st, cat, len(engines) > 0)
	if err != nil {
		return nil, err
	}
	if err := otherImages(p, handed); err != nil {
		return nil, err
	}
	if len(p.Cells) == 0 {
		return nil, withHint(fail(NothingHere, "no engine here can pull"), "plimsoll engines says what is missing and what would help")
	}
	return p, nil
}

// handedOver are the engines that pull from no plain registry, but keep an image
// in a store of their own.
func (s *setting) handedOver() []string {
	return s.enginesThat(func(i engine.Info) bool { return i.Images == engine.ImagesHanded })
}

// otherImages takes the images that such an engine was not given out of the
// plan: nobody has asked for them.
func otherImages(p *study.Plan, handed []string) error {
	for _, c := range slices.Clone(p.Cells) {
		e, w := p.Environments[c.Env], p.Workloads[c.Workload]
		if !slices.Contains(handed, e.Engine) || engine.ImageName(engine.Spec{Levels: e.Levels}) == w.Params["image"] {
			continue
		}
		if err := p.DropCell(e.ID, w.ID, study.Impossible, "", ""); err != nil {
			return err
		}
	}
	p.Excluded = slices.DeleteFunc(p.Excluded, func(x record.Excluded) bool { return x.Workload != "" && x.Reason == "" })
	return nil
}

// sizeRow is one image in one environment.
type sizeRow struct {
	Environment string           `json:"environment"`
	Image       string           `json:"image"`
	Sizes       map[string]int64 `json:"sizes,omitempty"`
	Missing     string           `json:"missing,omitempty"`
	Fix         string           `json:"fix,omitempty"`
}

// readSizes gives a row for every cell of the plan, measured or not.
func readSizes(dir string) ([]sizeRow, error) {
	r, err := record.Open(dir)
	if err != nil {
		return nil, fail(Failed, "%w", err)
	}
	images := map[string]string{}
	for _, w := range r.Run().Workloads {
		images[w.ID] = w.Params["image"]
	}
	var rows []sizeRow
	for t, err := range r.Trials() {
		if err != nil {
			return nil, fail(Failed, "%w", err)
		}
		row := sizeRow{Environment: t.Env, Image: images[t.Workload]}
		if t.OK() {
			row.Sizes = map[string]int64{}
			for _, c := range sizeColumns {
				if v, ok := t.Values[c.id]; ok {
					row.Sizes[c.id] = int64(v)
				}
			}
		} else {
			row.Missing = string(t.Failure.Class) + ": " + t.Failure.Text
		}
		rows = append(rows, row)
	}
	sortRows(rows, r.Run())
	for _, x := range r.Run().Excluded {
		row := sizeRow{Environment: x.ID, Image: images[x.Workload], Missing: x.Kind + ": " + x.Reason, Fix: x.Fix}
		rows = append(rows, row)
	}
	return rows, nil
}

func printSizes(w World, format string, rows []sizeRow) error {
	if format == "json" {
		return printJSON[[]sizeRow](w.Stdout, rows)
	}
	// The names stand at the left, the numbers at the right.
	image, env := len("IMAGE"), len("ENVIRONMENT")
	for _, r := range rows {
		image, env = max(image, len(r.Image)), max(env, len(r.Environment))
	}
	names := func(a, b string) string { return fmt.Sprintf("%-*s  %-*s\t", image, a, env, b) }
	tw := tabwriter.NewWriter(w.Stdout, 0, 4, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(tw, names("IMAGE", "ENVIRONMENT"))
	for _, c := range sizeColumns {
		fmt.Fprint(tw, c.title+"\t")
	}
	fmt.Fprintln(tw)
	for _, r := range rows {
		if r.Missing != "" {
			continue
		}
		fmt.Fprint(tw, names(r.Image, r.Environment))
		for _, c := range sizeColumns {
			v, ok := r.Sizes[c.id]
			switch {
			case !ok:
				fmt.Fprint(tw, "n/a\t")
			case v == 0:
				fmt.Fprint(tw, "0 B\t")
			default:
				fmt.Fprint(tw, sizeText(v)+"\t")
			}
		}
		fmt.Fprintln(tw)
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	for _, r := range rows {
		if r.Missing == "" {
			continue
		}
		name := r.Environment
		if r.Image != "" {
			name += " with " + r.Image
		}
		fmt.Fprintf(w.Stdout, "%s: %s\n", name, harmless.Text(r.Missing))
		if r.Fix != "" {
			fmt.Fprintf(w.Stdout, "  try: %s\n", harmless.Text(r.Fix))
		}
	}
	return nil
}

// sortRows brings the trials, which ran in random order, into the plan's.
func sortRows(rows []sizeRow, r *record.Run) {
	place := map[string]int{}
	for i, e := range r.Environments {
		place[e.ID] = i
	}
	order := map[string]int{}
	for i, w := range r.Workloads {
		order[w.Params["image"]] = i
	}
	at := func(x sizeRow) int { return order[x.Image]*len(place) + place[x.Environment] }
	slices.SortStableFunc(rows, func(a, b sizeRow) int { return at(a) - at(b) })
}

func sizesStatus(sum *run.Summary) error {
	switch {
	case sum.Interrupted:
		return fail(Interrupted, "interrupted")
	case sum.Left():
		return fail(Failed, notAllRemoved)
	case sum.Failed+sum.Unsupported > 0:
		return fail(SomeFailed, "%d of %d pulls failed", sum.Failed+sum.Unsupported, sum.Trials)
	}
	return nil
}
