//go:build linux

package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/oci"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/measure/selftest"
)

func selftestCommand(w World) *cobra.Command {
	var here turn
	format, runtime, blocks := "text", "auto", 0
	c := &cobra.Command{
		Use:   "selftest",
		Short: "Prove the stopwatch on this machine, in about a minute",
		Long: `Injects a delay of 5 ms and checks that it shows up in the right phase and nowhere
else; enters the same environment under two names and checks that they are not
told apart; and prints the noise floor of this machine, below which no gate may be
set. Exits with status 1 if the stopwatch was found wrong, and with 4 if this
machine is too noisy to tell.`,
		Example: "  plimsoll selftest\n  plimsoll selftest --blocks 400 --format json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			w, finish, broken, stop := w.interrupts()
			defer stop()
			s, err := newSetting(w)
			if err != nil {
				return err
			}
			if blocks != 0 && blocks < 20 {
				return fail(Usage, "--blocks is %d: it must be at least 20", blocks)
			}
			o := selftest.Options{Run: s.options(), Blocks: blocks}
			o.Run.Progress = newProgress(w, here.progress)
			o.Run.Finish, o.Run.Wait = finish.Done(), here.wait
			if err := s.addRuntime(finish, &o, runtime); err != nil {
				return err
			}
			res, err := selftest.Run(broken, o)
			if err != nil && finish.Err() != nil {
				return fail(Interrupted, "interrupted")
			}
			err = failing(err)
			if res == nil {
				return err
			}
			if format == "json" {
				err = errors.Join(err, printJSON[*selftest.Result](w.Stdout, res))
			} else {
				printSelftest(w, res)
			}
			const hint = "plimsoll doctor says what disturbs this machine; try again when it is quiet"
			switch {
			case err != nil:
				return err
			case res.Verdict() == selftest.Fail:
				return withHint(fail(Failed, "the stopwatch was found wrong here"), hint)
			case res.Verdict() == selftest.Open:
				return withHint(fail(GateOpen, "this machine is too noisy to prove everything"), hint)
			}
			return nil
		},
	}
	formatFlag(c, &format, "text", "json")
	here.addWaiting(c)
	choiceFlag(c, &runtime, "runtime", "the bare runtime to try", "auto", "crun", "runc", "none")
	c.Flags().IntVar(&blocks, "blocks", 0, "number of blocks with the runtime (default 200); the stopwatch alone gets five times as many")
	return c
}

// addRuntime adds a bare runtime to the test: the one that is named, or the
// first that can be used here, crun before runc because its times vary less.
func (s *setting) addRuntime(ctx context.Context, o *selftest.Options, want string) error {
	if want == "none" {
		return nil
	}
	usable := map[string]bool{}
	for _, f := range s.detect(ctx, "oci") {
		for _, l := range f.Levels[engine.Runtime] {
			usable[l.Name] = f.Usable && l.Usable
		}
	}
	for _, name := range []string{"crun", "runc"} {
		if !usable[name] || want != "auto" && want != name {
			continue
		}
		path, err := s.world.LookPath(name)
		if err != nil {
			continue
		}
		o.OCI, o.Runtime = oci.New(), name
		o.OCIDelayed = func(dir string) (engine.Engine, error) {
			slow, err := delayedRuntime(dir, name, path)
			return oci.New(oci.WithRuntime(name, slow)), err
		}
		return nil
	}
	if want != "auto" {
		return withHint(fail(NothingHere, "%s can't be used here as a bare runtime", want), "plimsoll engines oci says why")
	}
	return nil
}

// delayedRuntime makes a runtime that sleeps before it creates a container:
// the probe under another name, told by a file beside it what to do.
func delayedRuntime(dir, name, path string) (string, error) {
	slow := filepath.Join(dir, name)
	if err := os.WriteFile(slow, probe.Binary(), 0o755); err != nil {
		return "", fmt.Errorf("making a delayed runtime: %w", err)
	}
	conf := fmt.Sprintf("%d create %s\n", selftest.Delay.Nanoseconds(), path)
	if err := os.WriteFile(slow+".delay", []byte(conf), 0o644); err != nil {
		return "", fmt.Errorf("making a delayed runtime: %w", err)
	}
	return slow, nil
}

func printSelftest(w World, r *selftest.Result) {
	for _, c := range r.Checks {
		mark := string(c.Verdict)
		if c.Verdict == selftest.Fail {
			mark = "FAIL"
		}
		fmt.Fprintf(w.Stdout, "%s  %s: %s (wanted: %s)\n", mark, c.Name, c.Text, c.Wanted)
	}
	fmt.Fprintln(w.Stdout, "\nNoise floor: no gate may be set below this on this machine.")
	for _, n := range r.Noise {
		fmt.Fprintf(w.Stdout, "  %s: %.1f %% of %.2f ms, with %d blocks\n", n.Env, 100*n.Relative, n.MedianNS/1e6, n.Blocks)
	}
	for _, t := range r.Remarks {
		fmt.Fprintln(w.Stdout, t)
	}
	fmt.Fprintf(w.Stdout, "Took %.0f s.\n", r.Took)
}
