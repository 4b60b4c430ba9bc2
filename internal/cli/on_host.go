//go:build linux

package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"plimsoll/internal/measure/fleet"
	"plimsoll/internal/measure/run"
)

// onHostCommand is the far side of --on ssh://: what the program does where it was
// copied to. Nobody types it.
func onHostCommand(w World) *cobra.Command {
	unfetched := false
	c := &cobra.Command{
		Use:               fleet.FarCommand + " VERB DIR",
		Short:             "Serve plimsoll run --on ssh:// on the host where this program was copied to",
		Hidden:            true,
		Args:              cobra.ExactArgs(2),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(_ *cobra.Command, args []string) error {
			here, err := fleet.OpenHere(args[1])
			if err != nil {
				return fail(Failed, "%w", err)
			}
			do := map[string]func() error{
				fleet.VerbTake:    func() error { return here.Take(w.Stdin) },
				fleet.VerbRun:     func() error { return runHere(w, here) },
				fleet.VerbAwait:   here.Await,
				fleet.VerbSend:    func() error { return here.Send(w.Stdin, w.Stdout) },
				fleet.VerbStop:    here.Stop,
				fleet.VerbFetched: here.Fetched,
				fleet.VerbRemove:  func() error { return removeHere(w, here) },
				fleet.VerbClean:   func() error { return cleanHere(w, here, unfetched) },
			}[args[0]]
			if do == nil {
				return fail(Usage, "%q is not a command of %s", args[0], fleet.FarCommand)
			}
			if args[0] != fleet.VerbClean {
				if err := here.OnThisHost(); err != nil {
					return fail(Failed, "%w", err)
				}
			}
			return failing(do())
		},
	}
	c.Flags().BoolVar(&unfetched, "unfetched", false, "with clean: a record that nobody has fetched, too")
	return c
}

// usualPath is where programs are: what a login by ssh has may lack some of it.
const usualPath = ":/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// runHere becomes the run's process and runs it to its end.
func runHere(w World, here *fleet.Here) error {
	end, err := here.Begin()
	if err != nil {
		return err
	}
	log, err := os.OpenFile(here.Log(), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return errors.Join(err, end(int(Failed)))
	}
	for _, fd := range []int{1, 2} { // whatever writes there, a panic too
		if err := unix.Dup3(int(log.Fd()), fd, 0); err != nil {
			return errors.Join(err, end(int(Failed)))
		}
	}
	exit := Failed
	args, err := argsHere(here)
	if err != nil {
		fmt.Fprintln(log, statusPrefix+err.Error())
	} else {
		w.Args, w.Stdout, w.Stderr = args, log, log
		exit = Status(Main(w))
	}
	return end(int(exit))
}

// argsHere prepares the run: its state is its own, so that nothing of it is left
// here when it is removed.
func argsHere(here *fleet.Here) ([]string, error) {
	q, err := here.Request()
	if err != nil {
		return nil, err
	}
	if err := here.MakeState(); err != nil {
		return nil, err
	}
	_ = os.Unsetenv("LC_ALL") // the shell's that has started us
	err = errors.Join(os.Setenv(stateVariable, here.State()), os.Setenv("PATH", os.Getenv("PATH")+usualPath))
	if _, serr := os.Lstat(here.Study()); serr == nil {
		err = errors.Join(err, os.Chdir(here.Study()))
	}
	args := append([]string{"run"}, q.Args...)
	if q.Resume {
		return append(args, "--resume="+here.Record(), "--progress=plain"), err
	}
	return append(args, "--output="+here.Record(), "--run-id="+here.ID(), "--progress=plain"), err
}

// stateVariable says where a run's state is.
const stateVariable = "PLIMSOLL_STATE"

// removeHere takes all of the run away, what a kill has left of it first.
func removeHere(w World, here *fleet.Here) error {
	s := run.State{Dir: here.State()}
	_, err := os.Lstat(s.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return here.Remove()
	}
	gone, err := s.Abandoned()
	if err != nil {
		return err
	}
	// Nodes with one home have one folder for this run.
	elsewhere, err := s.Elsewhere()
	if err != nil {
		return err
	}
	if len(elsewhere) > 0 {
		return fmt.Errorf("kept %s: %s has begun the run, and whether that goes on can't be seen from here; clean up there", here.Dir, elsewhere[0].Process())
	}
	if len(gone) > 0 && here.Process() == 0 {
		err := errors.Join(os.Setenv(stateVariable, s.Dir), os.Setenv("PATH", os.Getenv("PATH")+usualPath))
		if err != nil {
			return err
		}
		w.Args, w.Stdout = []string{"clean", "--images"}, w.Stderr
		if exit := Main(w); exit != int(Done) {
			return fmt.Errorf("what the run has left in engines could not all be removed: see above")
		}
	}
	return here.Remove()
}

// cleanHere removes what was left of a run that has ended, unless its record would
// be lost.
func cleanHere(w World, here *fleet.Here, unfetched bool) error {
	if other := here.Elsewhere(); other != "" {
		fmt.Fprintf(w.Stdout, "kept %s: its run is on the host %s, which has the same folder (plimsoll clean --on ssh://%[2]s removes it)\n", here.Dir, other)
		return quiet(Failed)
	}
	if pid := here.Process(); pid > 0 {
		fmt.Fprintf(w.Stdout, "kept %s: the run goes on, as process %d\n", here.Dir, pid)
		return quiet(Failed)
	}
	if whose, is := here.Unfetched(); is && !unfetched {
		fmt.Fprintf(w.Stdout, "kept %s: its record was not fetched (plimsoll run --resume fetches it to %s; --unfetched removes it)\n", here.Dir, whose)
		return quiet(Failed)
	}
	if err := removeHere(w, here); err != nil {
		return err
	}
	fmt.Fprintln(w.Stdout, "removed", here.Dir)
	return nil
}
