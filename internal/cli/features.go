//go:build linux

package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/internal/measure/features"
	"plimsoll/internal/measure/run"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/report"
	"plimsoll/internal/understand/words"
)

func featuresCommand(w World) *cobra.Command {
	var o features.Options
	format, out, read := "text", "", ""
	var here turn
	var st style
	c := &cobra.Command{
		Use:   "features [ENGINE...]",
		Short: "Fill in the feature table of the engines here by trying each feature",
		Long: `Tries the features one by one, with each engine's own commands, and prints yes,
partial, no or untried (-), each with the command and its output. "No"
means that the engine refused, or that its own help lacks the command; what this
machine can't tell is untried. The rows are those of Table 2 of baresi2024 and
some newer ones; where a published value differs, it is shown next to ours.
Everything is removed again, and your daemons are not reconfigured.`,
		Example: `  plimsoll features
  plimsoll features docker podman -o features.json
  plimsoll features podman apptainer --feature signed-images
  plimsoll features -o DIR     next to a run's record, for readers of that record
  plimsoll features --read DIR --format markdown`,
		Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, names []string) error {
			s, err := newSetting(w)
			if err != nil {
				return err
			}
			o.Engines = names
			if err := o.Check(); err != nil {
				return unknownFeature(&o, err)
			}
			if err := tablePlace(out); err != nil {
				return err
			}
			shape := report.FeatureOptions{Options: looks(w, st), Detail: len(o.Features) > 0}
			if read != "" {
				return readFeatures(w, &o, read, format, out, shape)
			}
			w, finish, _, stop := w.interrupts()
			defer stop()
			on := s.options()
			on.Wait, on.Finish = here.wait, finish.Done()
			shown := newAttempts(w, here.progress, &o)
			table, swept, err := features.OnMachine(finish, on, o)
			shown.end()
			for _, name := range swept {
				fmt.Fprintln(w.Stderr, "removed what an attempt had left:", words.Clean(name))
			}
			if table != nil {
				rec := &record.Run{}
				if herr := describeHost(finish, s, &run.Options{Run: rec}, true); herr != nil {
					return herr
				}
				table.Host, table.Tool = rec.Host, tool()
				err = errors.Join(err, showFeatures(w, table, format, out, shape))
			}
			switch {
			case finish.Err() != nil:
				return fail(Interrupted, "interrupted: everything was removed, and no table is kept")
			case err != nil:
				return fail(Failed, "%w", err)
			case !table.Tried():
				return withHint(fail(NothingHere, "none of the engines can be used here"), "plimsoll engines says what is missing and what would help")
			}
			return nil
		},
	}
	formatFlag(c, &format, report.FeatureFormats()...)
	c.Flags().StringSliceVar(&o.Features, "feature", nil, "only these rows, by their ids, with what was run and what came back")
	c.Flags().StringVarP(&out, "output", "o", "", "also write the table as JSON to this file, or as features.json into this directory")
	c.Flags().StringVar(&read, "read", "", "try nothing: print the table in this file or run directory")
	here.addWaiting(c)
	st.add(c, report.FeatureFormats())
	c.ValidArgsFunction = completeWords(features.Engines()...)
	completes(c, "feature", completeWords(features.IDs()...))
	completesPaths(c, nil, "output", "read")
	return c
}

// tablePlace refuses, before anything is tried, a place for the table that names a run's
// directory which is not there: a file of that name would stand in the run's way.
func tablePlace(out string) error {
	if _, err := os.Stat(out); out == "" || filepath.Ext(out) == ".json" || !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return withHint(fail(Usage, "-o %s not an existing directory or .json file", out), "measure first, or name a file: -o %s.json", strings.TrimSuffix(out, "/"))
}

// readFeatures prints a table that was filled before, as far as it was asked
// for.
func readFeatures(w World, o *features.Options, path, format, out string, shape report.FeatureOptions) error {
	t, err := record.ReadFeatures(path)
	if err != nil {
		file := "FILE"
		if errors.Is(err, fs.ErrNotExist) {
			file = shortPath(path)
		}
		return withHint(fail(Failed, "%w", err), "plimsoll features -o %s writes one", file)
	}
	return failing(showFeatures(w, t.Only(o.Engines, o.Features), format, out, shape))
}

// showFeatures writes the table to a file, where one is named, and prints it.
func showFeatures(w World, t *record.Features, format, out string, opts report.FeatureOptions) error {
	if out != "" {
		if err := record.WriteFeatures(out, t); err != nil {
			return err
		}
	}
	return report.WriteFeatures(w.Stdout, format, t, opts)
}

// attempts shows how far the attempts have come.
type attempts struct {
	mu    sync.Mutex
	shown run.Progress
	n     int
	last  time.Time
	every time.Duration
}

func newAttempts(w World, kind string, o *features.Options) *attempts {
	c := &attempts{shown: newProgress(w, kind), every: everyBar}
	if _, lines := c.shown.(*plain); lines {
		c.every = everyPlain
	}
	o.Tried = c.tried
	return c
}

func (c *attempts) tried(engine, feature string, cell record.FeatureCell) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n++
	if time.Since(c.last) < c.every {
		return
	}
	c.last = time.Now()
	c.shown.Step(fmt.Sprintf("features: %d attempts, %s %s: %s", c.n, engine, feature, cell.Value))
}

func (c *attempts) end() { c.shown.End() }

// unknownFeature is the complaint about an engine or a feature that nobody knows, with the
// one that may be meant.
func unknownFeature(o *features.Options, err error) error {
	err = &exitError{status: Usage, err: err}
	const see = "plimsoll features --help shows what it takes"
	for _, n := range o.Engines {
		if !slices.Contains(features.Engines(), n) {
			return didYouMean(err, n, features.Engines(), see)
		}
	}
	for _, id := range o.Features {
		if !slices.Contains(features.IDs(), id) {
			return didYouMean(err, id, features.IDs(), see)
		}
	}
	return withHint(err, see)
}
