package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll/internal/common/harmless"
	"plimsoll/internal/measure/portable"
)

// cleanPortable removes what such runs have left whose process is gone.
func cleanPortable(cmd *cobra.Command, w World, format string) error {
	around, err := w.around()
	if err != nil {
		return err
	}
	dir, err := w.ledgers()
	if err != nil {
		return err
	}
	all, err := around.Clean(cmd.Context(), filepath.Clean(dir))
	kept := 0
	for _, c := range all {
		if c.Kept != "" {
			kept++
		}
	}
	if format == "json" {
		err = errors.Join(err, printJSON[[]portable.Cleaned](w.Stdout, all))
	} else {
		for _, c := range all {
			what := harmless.Text(fmt.Sprintf("the %s %s of %s, of run %s", c.Thing.Kind, c.Thing.Name, c.Thing.Engine, c.Run))
			if c.Kept != "" {
				fmt.Fprintf(w.Stdout, "kept %s: %s\n", what, harmless.Text(c.Kept))
				continue
			}
			if c.Absent {
				fmt.Fprintf(w.Stdout, "not there any more, or never: %s\n", what)
				continue
			}
			fmt.Fprintf(w.Stdout, "removed %s\n", what)
		}
		if len(all) == 0 && err == nil {
			fmt.Fprintln(w.Stdout, "No run with --portable has left anything behind (ledgers in "+dir+").")
		}
	}
	if err == nil && kept > 0 {
		err = fmt.Errorf("%d things could not be removed: see above; plimsoll clean --portable tries again", kept)
	}
	if err != nil {
		return fail(Failed, "%w", err)
	}
	return nil
}

type portableEngines struct {
	Engines []*portable.Found `json:"engines"`
	LeftOut []portable.Left   `json:"left_out"`
	Ways    []portable.Way    `json:"ways"`
}

// enginesPortable shows how the engines are reached.
func enginesPortable(cmd *cobra.Command, w World, names []string, format string) error {
	around, err := w.around()
	if err != nil {
		return err
	}
	if len(names) == 0 {
		names = portable.Engines
	}
	look := &portable.Look{Context: cmd.Context(), Around: around, Images: &portable.Images{}}
	var all []*portable.Found
	for _, n := range names {
		if !slices.Contains(portable.Engines, n) {
			return fail(Usage, "--portable measures %s, and not %s", strings.Join(portable.Engines, ", "), n)
		}
		all = append(all, look.Found(n))
	}
	if format == "json" {
		return printJSON[portableEngines](w.Stdout, portableEngines{all, portable.LeftOut, portable.Ways})
	}
	for _, f := range all {
		printFound(w, f)
	}
	fmt.Fprintln(w.Stdout)
	printWays(w)
	fmt.Fprintln(w.Stdout)
	printLeftOut(w)
	return nil
}

type portableDoctor struct {
	ClockNS  int64             `json:"clock_resolution_ns"`
	Engines  []*portable.Found `json:"engines"`
	LeftOut  []portable.Left   `json:"left_out"`
	System   string            `json:"system"`
	Verified bool              `json:"verified"`
}

// doctorPortable shows what of a measurement that half leaves out on this machine, and
// what its clock and the ways to the engines are.
func doctorPortable(cmd *cobra.Command, w World, format string) error {
	around, err := w.around()
	if err != nil {
		return err
	}
	look := &portable.Look{Context: cmd.Context(), Around: around, Images: &portable.Images{}}
	var all []*portable.Found
	reached := false
	for _, n := range portable.Engines {
		f := look.Found(n)
		all, reached = append(all, f), reached || f.Reason == "" || f.NoProgram == ""
	}
	step := portable.Resolution()
	if format == "json" {
		err = printJSON[portableDoctor](w.Stdout, portableDoctor{step.Nanoseconds(), all, portable.LeftOut, runtime.GOOS, runtime.GOOS == "linux"})
	} else {
		fmt.Fprintf(w.Stdout, "The clock of this machine moves in steps of %s.\n", step)
		for _, f := range all {
			printFound(w, f)
		}
		fmt.Fprintln(w.Stdout)
		printLeftOut(w)
	}
	if err == nil && !reached {
		return quiet(NothingHere)
	}
	return err
}
