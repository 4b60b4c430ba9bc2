package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll/internal/common/harmless"
	"plimsoll/internal/measure/portable"
	"plimsoll/internal/measure/study"
	"plimsoll/internal/measure/workload"
)

// portableFlags are those of the half that measures by an engine's API and command
// alone.
type portableFlags struct {
	on       bool
	archives map[string]string
}

// add adds the flags; on systems other than Linux the half is always on.
func (f *portableFlags) add(c *cobra.Command) {
	c.Flags().BoolVar(&f.on, "portable", runtime.GOOS != "linux", "measure Docker and Podman by their API and their command alone, wherever they run: no root, nothing of this machine's kernel; plimsoll doctor --portable says what that leaves out")
	c.Flags().StringToStringVar(&f.archives, "image-archive", nil, "with --portable: an image from a file written by docker save, such as busybox=busybox.tar, for workloads that run in it")
}

// portableFlag adds --portable to a command that only shows.
func portableFlag(c *cobra.Command, on *bool, usage string) {
	c.Flags().BoolVar(on, "portable", runtime.GOOS != "linux", usage)
}

// around are the surroundings of that half.
func (w World) around() (portable.Surroundings, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return portable.Surroundings{}, fail(Failed, "finding your home directory: %w", err)
	}
	return portable.Surroundings{Getenv: w.Getenv, LookPath: w.LookPath, Home: home, System: runtime.GOOS}, nil
}

// ledgers is the folder where its runs keep account of what they make. Each
// state directory has ledgers of its own.
func (w World) ledgers() (string, error) {
	if dir := w.Getenv("PLIMSOLL_STATE"); dir != "" {
		return filepath.Join(dir, "portable"), nil
	}
	if dir := w.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "plimsoll", "portable"), nil
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", withHint(fail(Failed, "finding a place for the ledger: %w", err), "set PLIMSOLL_STATE to a directory of your own")
	}
	return filepath.Join(dir, "plimsoll", "portable"), nil
}

// portableCatalogue is what a study can choose from, whatever can be measured.
func portableCatalogue() (*study.Catalogue, error) {
	var all []study.WorkloadInfo
	for _, x := range workload.Catalogue() {
		all = append(all, workloadInfo(x))
	}
	c, err := portable.Catalogue(all)
	if err != nil {
		return nil, fail(Failed, "%w", err)
	}
	c.Read = readWorkload
	return c, nil
}

// portablePlan reads a study and expands it for the engines that can be reached.
func portablePlan(ctx context.Context, a *portableAsked, look *portable.Look) (*study.Plan, error) {
	cat, err := portableCatalogue()
	if err != nil {
		return nil, err
	}
	st, err := study.Load(a.study, cat)
	if err != nil {
		return nil, &exitError{status: Usage, err: err}
	}
	if st, err = st.At(a.scale); err != nil {
		return nil, withHint(&exitError{status: Usage, err: err}, "the study's file lists its scales")
	}
	st.Protocol.Unlooked()
	if a.blocks > 0 {
		st.Protocol.Until, st.Protocol.Blocks = 0, a.blocks
	}
	if err := st.Only(a.parts, study.OnlyOptions{AllBlocks: a.blocks > 0}); err != nil {
		return nil, &exitError{status: Usage, err: err}
	}
	if a.seed > study.MaxSeed {
		return nil, fail(Usage, "--seed is %d: it can be at most %d", a.seed, uint64(study.MaxSeed))
	}
	if a.seed != 0 {
		st.Protocol.Seed = a.seed
	}
	st.Protocol.SmallSizes = st.Protocol.SmallSizes || a.small
	for _, n := range a.engines {
		if !slices.Contains(portable.Engines, n) {
			return nil, withHint(fail(Usage, "--engine: --portable measures %s, and not %s", strings.Join(portable.Engines, ", "), n), "plimsoll engines --portable says what is reached here")
		}
	}
	if len(a.engines) > 0 {
		onlyEngines(st, a.engines)
	}
	p, err := study.Expand(st, cat, study.Options{Usable: look.Usable})
	if err != nil {
		return nil, &exitError{status: Usage, err: err}
	}
	look.Drop(p)
	return p, ctx.Err()
}

// onlyEngines takes the environments of other engines out of a study.
func onlyEngines(st *study.Study, only []string) {
	for p := range st.Parts {
		var keep []study.Entry
		for _, e := range st.Parts[p].Environments {
			e.Engines = slices.DeleteFunc(slices.Clone(e.Engines), func(n string) bool { return !slices.Contains(only, n) })
			if len(e.Engines) > 0 {
				keep = append(keep, e)
			}
		}
		st.Parts[p].Environments = keep
	}
}

// printLeftOut says what that half leaves out.
func printLeftOut(w World) {
	fmt.Fprintln(w.Stdout, "What --portable leaves out, since it asks the engine's own interface alone:")
	for _, l := range portable.LeftOut {
		w.wrapped("  ", l.What+": "+l.Why+".")
	}
	if runtime.GOOS != "linux" {
		w.wrapped("", "On "+runtime.GOOS+" measuring is unverified: it is compiled and vetted for it, and was run on Linux only, until someone has run it here.")
	}
}

// printWays says by which of the ways somebody has measured.
func printWays(w World) {
	fmt.Fprintln(w.Stdout, "Which ways to reach an engine have been measured:")
	for _, way := range portable.Ways {
		w.wrapped("  ", way.Engine+" by "+way.By+": "+way.Text()+".")
	}
}

// printFound prints how one engine is reached.
func printFound(w World, f *portable.Found) {
	switch {
	case f.Reason != "" && f.NoProgram != "":
		w.wrapped(fmt.Sprintf("%-8s", f.Engine), "not reached: "+harmless.Text(f.Reason)+"; "+harmless.Text(f.NoProgram))
	case f.Reason != "" && f.Facts == nil:
		w.wrapped(fmt.Sprintf("%-8s", f.Engine), "not reached: "+harmless.Text(f.Reason))
	case f.Reason != "":
		w.wrapped(fmt.Sprintf("%-8s", f.Engine), harmless.Text(f.Facts["version"]+" by its command only: "+f.Reason))
	default:
		also := ", and by its command"
		if f.NoProgram != "" {
			also = ", and not by its command, since " + harmless.Text(f.NoProgram)
		}
		w.wrapped(fmt.Sprintf("%-8s", f.Engine), harmless.Text(fmt.Sprintf("%s by its API at %s (by %s; %s; round trip %.2f ms)%s", f.Facts["version"], f.Where, f.By, f.Kind, float64(f.RoundTrip)/1e6, also)))
	}
	switch {
	case f.Verified != "":
		w.wrapped(strings.Repeat(" ", 8), "verified by "+f.Verified)
	case f.Unverified != "":
		w.wrapped(strings.Repeat(" ", 8), "unverified: "+f.Unverified)
	}
	if f.Fix != "" {
		w.wrapped(strings.Repeat(" ", 8), "try: "+harmless.Text(f.Fix))
	}
}
