// Package cli is the command line: one file a command. A command parses its
// flags, calls one function and prints what it gives.
//
// It is opinionated: standard output carries results and nothing else,
// standard error carries progress and complaints, and the exit status says
// what happened (see Status).
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"plimsoll/internal/common/safepath"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/document"
)

// World is everything that comes from outside, so that tests can drive the
// whole command line in process.
type World struct {
	Args   []string // without the program's name
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	Getenv func(string) string
	// LookPath finds a program.
	LookPath func(string) (string, error)
	// Width gives the columns of standard output's terminal, 0 where it is none.
	Width func() int
	// ErrTerminal says whether standard error is a terminal.
	ErrTerminal bool
	// ErrWidth gives its columns, 0 where they are not known.
	ErrWidth func() int
	// ErrHeight gives its lines, 0 where they are not known.
	ErrHeight func() int
	// Engines are those that there are; nil stands for the whole catalogue.
	Engines engines
	// DetectLimit is how long an engine may take to be found; 0 stands for what
	// the contract says.
	DetectLimit time.Duration
	// Judge, where given, has the last word on what the doctor remarks.
	Judge func([]record.Remark) []record.Remark
	// Replace makes this process another program, as execve(2) does; nil: nobody may.
	Replace func(path string, argv, env []string) error
	// Signals makes contexts that end when the user interrupts, see notify; nil:
	// nobody does.
	Signals func() (first, second context.Context, stop func())
}

// System is the world as it is.
func System() World {
	return World{
		Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Getenv: os.Getenv, LookPath: exec.LookPath,
		Width:       columns(os.Stdout),
		ErrWidth:    columns(os.Stderr),
		ErrHeight:   lines(os.Stderr),
		ErrTerminal: term.IsTerminal(int(os.Stderr.Fd())),
		Signals:     notify,
		Replace:     syscall.Exec,
	}
}

// columns gives the width of a terminal, 0 where it is none.
func columns(f *os.File) func() int {
	return func() int {
		w, _, err := term.GetSize(int(f.Fd()))
		if err != nil {
			return 0
		}
		return w
	}
}

// lines gives the height of a terminal, 0 where it is none.
func lines(f *os.File) func() int {
	return func() int {
		_, h, err := term.GetSize(int(f.Fd()))
		if err != nil {
			return 0
		}
		return h
	}
}

// errWidth is the width of standard error: as it is, else that of a page.
func (w World) errWidth() func() int {
	return func() int {
		if w.ErrWidth != nil {
			if n := w.ErrWidth(); n > 0 {
				return n
			}
		}
		return pipeWidth
	}
}

// Status is the program's exit status.
type Status int

// The exit statuses.
const (
	Done         Status = 0   // done
	Failed       Status = 1   // an error
	Usage        Status = 2   // wrong usage, or a wrong study
	GateFailed   Status = 3   // a gate failed
	GateOpen     Status = 4   // a gate could not tell, with --strict
	NothingHere  Status = 5   // nothing can be measured here
	SomeFailed   Status = 6   // done, but some trials failed
	Interrupted  Status = 130 // interrupted; can be resumed
	statusPrefix        = "plimsoll: "
)

// helpWidth is how wide the texts of --help are written.
const helpWidth = 84

// statusText is all of them for who reads --help; the README and the manual have it too.
const statusText = "Exit statuses: 0 done; 1 error; 2 wrong usage or study; 3 a gate failed; 4 could not tell; 5 nothing here can be measured; 6 done, but some trials failed; 130 interrupted, can be resumed."

// exitError is an error with its exit status and, where there is one, what to
// do about it.
type exitError struct {
	status Status
	err    error
	hint   string
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

// notAllRemoved is the error where a run left something.
const notAllRemoved = "the measurement stands, but not everything could be removed afterwards"

// fail gives an error its exit status.
func fail(s Status, format string, a ...any) error {
	return &exitError{status: s, err: fmt.Errorf(format, a...)}
}

// failing gives an error, if it is one, the status of a failure.
func failing(err error) error {
	if err == nil {
		return nil
	}
	return fail(Failed, "%w", err)
}

// withHint adds what to do.
func withHint(err error, format string, a ...any) error {
	e := &exitError{status: Failed, err: err, hint: fmt.Sprintf(format, a...)}
	if inner, ok := errors.AsType[*exitError](err); ok {
		e.status = inner.status
	}
	return e
}

// taken is the error that somebody else measures on this machine.
type taken interface{ Who() string }

// withTurn adds to a refusal of the machine's turn how the command waits for it,
// where it does.
func withTurn(cmd *cobra.Command, err error) error {
	var busy taken
	wait := cmd.Flags().Lookup("wait")
	if !errors.As(err, &busy) || wait == nil || wait.Value.String() == "true" {
		return err
	}
	return withHint(err, "--wait waits for your turn: first come, first served")
}

// quiet is an error whose text was already printed as part of the result.
func quiet(s Status) error { return &exitError{status: s, err: errSaid} }

var errSaid = errors.New("said already")

// usageStatus is the annotation of a command that has another exit status for wrong
// usage, and where its output can't be written: to whoever calls it, 1 and 2 are answers.
const usageStatus = "usage-status"

// Main runs one command line and gives the exit status.
func Main(w World) int {
	out := &answer{Writer: w.Stdout}
	w.Stdout = out
	w = w.readable()
	root := Root(w)
	root.SetArgs(w.Args)
	cmd, err := root.ExecuteContextC(context.Background())
	if err = out.whole(err); err == nil {
		return int(Done)
	}
	err = withTurn(cmd, err)
	status := Failed
	var e *exitError
	if errors.As(err, &e) {
		status = e.status
	}
	if errors.Is(err, safepath.ErrInterrupted) {
		status = Interrupted
	}
	if own := cmd.Annotations[usageStatus]; own != "" && (status == Usage || out.lost != nil) {
		if n, err := strconv.Atoi(own); err == nil {
			status = Status(n)
		}
	}
	if !errors.Is(err, errSaid) {
		hint := ""
		if e != nil {
			hint = e.hint
		}
		complain(w, err, hint)
	}
	return int(status)
}

// Root is the tree of commands.
func Root(w World) *cobra.Command {
	root := &cobra.Command{
		Use:   "plimsoll",
		Short: "Measure container engines side by side on this machine, and say why they differ",
		Long: `Plimsoll measures container engines side by side on your own machine, on equal
terms and in interleaved order, against the same files run without an engine
(native) and against the least that the kernel can do (floor).

` + strings.Join(document.Wrap(statusText, helpWidth, ""), "\n"),
		Example: `  plimsoll engines             what can be measured here
  plimsoll run                 measure it, in about a minute
  plimsoll report DIR          look at the result again`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cmd.Help()
		},
	}
	root.SetIn(w.Stdin)
	root.SetOut(w.Stdout)
	root.SetErr(w.Stderr)
	root.SetFlagErrorFunc(flagSlip)
	root.Version = versionLine()
	root.SetVersionTemplate("{{.Version}}\n")
	for _, c := range append(commands(w), hidden(w)...) {
		wrapArgs(c)
		root.AddCommand(c)
	}
	wrapArgs(root)
	numbersAreNoFiles(root)
	ownHelp(root)
	narrowHelp(root, w)
	return root
}

// emptyList refuses an option whose list is given and empty, as a shell's variable may be
// that was meant to choose: it would mean everything.
func emptyList(c *cobra.Command) (err error) {
	c.Flags().Visit(func(f *pflag.Flag) {
		if l, ok := f.Value.(pflag.SliceValue); ok && err == nil && len(l.GetSlice()) == 0 {
			err = withHint(fail(Usage, "--%s is empty", f.Name), "give it a value, or leave it out")
		}
	})
	return err
}

// wrapArgs makes every complaint about arguments one about usage.
func wrapArgs(c *cobra.Command) {
	check := c.Args
	if check == nil {
		check = cobra.ArbitraryArgs
	}
	c.Args = func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return argumentSlip(cmd, args, err)
		}
		return emptyList(cmd)
	}
	for _, sub := range c.Commands() {
		wrapArgs(sub)
	}
}
