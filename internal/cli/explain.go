//go:build linux

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"plimsoll/internal/common/harmless"
	"plimsoll/internal/measure/run"
	"plimsoll/internal/measure/spans"
	"plimsoll/internal/measure/trace"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/page"
	"plimsoll/internal/understand/report"
	"plimsoll/internal/understand/timeline"
)

// explainFlags are how a start is followed.
type explainFlags struct {
	printing
	turn
	starts    int
	asked     bool  // for so many starts, however long they take
	together  []int // how many begin at once
	atOnce    int   // of these, the ones that are followed now
	stop      string
	unlimited bool // no container has a limit
	fewer     int  // starts that did not fit into the time
	left      bool // not all could be removed afterwards
	against   string
	allCalls  bool
	keep      string // the record's directory, "" for none
	spans     bool   // those of the engine's own are shown beside it
	received  *spans.Receiver
	builds    buildFlags
	flags     *pflag.FlagSet
}

func explainCommand(w World) *cobra.Command {
	f := explainFlags{printing: printing{format: "text"}, starts: 10, together: []int{1}}
	c := &cobra.Command{
		Use:   "explain ENGINE [FACTOR=LEVEL…] | -- COMMAND…",
		Short: "Show where the time of a start goes: who waited for whom, and for what",
		Long: `Follows the starts of an engine's containers, or of a command of your own, through
all processes that they wait for: client, daemon, shim, runtime and the kernel. It
shows what lay on the way from the request to the first byte (for a command: to its
end), and where the time of each part went: a system call, a lock, the disk, a grace
period of the kernel, a busy processor. Next to each stands by how much the start would
be shorter without it, at most.

Every second start is not traced, which shows what tracing costs. Tracing leaves
nothing on the machine, not even after a kill. Without root you get only the steps that
are timed from outside.`,
		Example: `  plimsoll explain docker network=none
  plimsoll explain oci runtime=crun client=run --starts 50
  plimsoll explain docker network=none --against network=host
  plimsoll explain -- docker run --rm --network none busybox true
  plimsoll explain docker network=none --at-once 8
  plimsoll explain --at-once 16 -- podman run --rm busybox true
  plimsoll explain all --at-once 1,2,4,8,16,32,64
  plimsoll explain docker network=none podman network=none --at-once 1,4,16
  plimsoll explain docker --stop none --against with=init
  plimsoll explain docker --format html -o start.html
  plimsoll explain docker --against network=host --keep start
  plimsoll explain cri endpoint=crio --spans
  plimsoll explain oci runtime=runc build=old --against build=new --build runc:old=/opt/runc/runc --build runc:new=./runc
  plimsoll explain --starts 1 --format chrome -o start.json -- podman run --rm busybox true`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 || c.ArgsLenAtDash() > 0 {
				return errors.New("expected an engine, or the command to explain after --: plimsoll explain ENGINE, plimsoll explain -- COMMAND")
			}
			return nil
		},
		ValidArgsFunction: completeEngine(w, realEngine),
		RunE: func(c *cobra.Command, args []string) error {
			if f.starts < 1 || f.starts > 1000 {
				return fail(Usage, "--starts is %d: expected 1 to 1000", f.starts)
			}
			f.asked, f.flags = c.Flags().Changed("starts"), c.Flags()
			explain := f.environment
			if err := f.ranges(c, args); err != nil {
				return err
			}
			if err := f.ownSpans(c, args); err != nil {
				return err
			}
			if (len(f.builds.list) > 0 || f.builds.file != "") && (c.ArgsLenAtDash() == 0 || f.many(c, args)) {
				return fail(Usage, "--build is for the starts of an environment: plimsoll explain ENGINE build=NAME --build PROGRAM:NAME=FILE")
			}
			if f.many(c, args) {
				return f.rates(w, c, args)
			}
			f.atOnce = f.together[0]
			compare := f.comparison(c)
			if f.keep != "" && (c.ArgsLenAtDash() == 0 || f.atOnce > 1) {
				return fail(Usage, "--keep is for the starts of environments, one at a time: plimsoll explain ENGINE --keep DIR")
			}
			if err := takesRecord(f.keep); err != nil {
				return err
			}
			switch {
			case compare != nil:
				if !slices.Contains(report.Comparison.Formats(), f.format) {
					return fail(Usage, "--format %s is for one start alone: choose one of %s", f.format, strings.Join(report.Comparison.Formats(), ", "))
				}
				x, err := compare(w, args)
				if err != nil {
					return err
				}
				return tell(w, &f.printing, report.Comparison, x)
			case c.ArgsLenAtDash() == 0 && c.Flags().Changed("against"):
				return fail(Usage, "--against is for environments: plimsoll explain ENGINE --against LEVELS")
			case f.atOnce > 1 && c.Flags().Changed("against"):
				return fail(Usage, "--at-once and --against can't be given together")
			case c.ArgsLenAtDash() == 0:
				explain = f.command
			}
			x, err := explain(w, args)
			if err != nil {
				return err
			}
			x.Shorten()
			if how := report.Tracing(x); how != "" && slices.Contains([]string{"chrome", "folded"}, f.format) {
				fmt.Fprintln(w.Stderr, how) // what these formats have no room for
			}
			if x.Spans != nil && f.format == "chrome" {
				fmt.Fprintln(w.Stderr, report.SpansHow(x.Spans))
			}
			if f.format == "html" {
				return f.show(w, func(out io.Writer, _ report.Options) error { return page.WriteLanes(out, x) })
			}
			return tell(w, &f.printing, report.Explanation, x)
		},
	}
	follow := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := follow(c, args); err != nil || !f.left {
			return err
		}
		return fail(Failed, notAllRemoved)
	}
	f.printing.add(c, append(report.Explanation.Formats(), "html")...)
	c.Flags().IntVar(&f.starts, "starts", f.starts, "how many starts are traced; without it, for an environment at most as many as fit into a minute")
	c.Flags().IntSliceVar(&f.together, "at-once", f.together, "start it this many times at once, and show what takes longer then than alone: what limits the rate of starts; several numbers make a table, of one engine, of several or of all")
	c.Flags().StringVar(&f.stop, "stop", "", "follow the stop instead of the start, of a container whose program ends at SIGTERM (exit), ignores it (ignore) or has no handler for it (none); it is killed 2 s later")
	c.Flags().StringVar(&f.against, "against", "", "compare with another environment, with the difference of each step: other levels (network=host), or an engine with its levels (\"ENGINE network=none\")")
	c.Flags().BoolVar(&f.allCalls, "all-calls", false, "record the beginning and the end of every system call, which makes each of them take longer: the first lines say by how much")
	c.Flags().StringVar(&f.keep, "keep", "", "keep the record in this directory, which must be new or empty: its report draws the lanes of each environment")
	c.Flags().BoolVar(&f.spans, "spans", false, "show the engine's own spans next to it (OpenTelemetry): of a private daemon, which is started with its own tracing switched on, never of yours: "+spanning(w.Engines))
	f.builds.add(c)
	f.addWaiting(c)
	completes(c, "stop", completeWords("exit\tits program ends at SIGTERM", "ignore\tits program ignores SIGTERM", "none\tits program has no handler for SIGTERM"))
	completes(c, "against", completeEngineNames(w, realEngine))
	completesFolders(c, "keep")
	return c
}

// comparison is what compares two kinds of start, nil where one is to be explained
// or what was asked for does not go together.
func (f *explainFlags) comparison(c *cobra.Command) func(World, []string) (*timeline.Comparison, error) {
	command, against := c.ArgsLenAtDash() == 0, c.Flags().Changed("against")
	switch {
	case f.atOnce > 1 && against, command && against:
		return nil
	case f.atOnce > 1 && command:
		return f.rate
	case f.atOnce > 1:
		return f.environmentRate
	case against:
		return f.both
	}
	return nil
}

// options of the tracing.
func (f *explainFlags) options() trace.Options {
	return trace.Options{Stacks: true, AllCalls: f.allCalls, Code: true}
}

// rooted refuses who can't follow what the kernel does, as this command of plimsoll asks.
func rooted(command ...string) error {
	if os.Geteuid() == 0 {
		return nil
	}
	return withHint(fail(NothingHere, "what the kernel does can only be followed as root"), "sudo plimsoll %s", harmless.ShellLine(command))
}

// lacks says why the kernel can't be followed here and what would make it possible;
// nothing where it can be.
func (f *explainFlags) lacks(args []string) string {
	if os.Geteuid() != 0 {
		return "only root may follow the kernel (sudo plimsoll explain " + strings.Join(args, " ") + ")."
	}
	r, err := trace.Open(f.options())
	if err != nil {
		return fmt.Sprintf("the kernel can't be followed here (%v): it takes tracepoints (CONFIG_FTRACE, CONFIG_PERF_EVENTS), a tracing file system that may be mounted, and CAP_SYS_ADMIN, which a container has with --privileged.", err)
	}
	_ = r.Close()
	return ""
}

// noProgram refuses a command whose program is not here.
func noProgram(name string) error {
	return withHint(fail(Usage, "%s command not found", name), "give its path, such as ./%s; an engine is named without --: plimsoll explain ENGINE", filepath.Base(name))
}

// step says which start comes next; the first only warms up.
func (f *explainFlags) step(p run.Progress, n int) {
	if n == 0 {
		p.Step("warming up")
		return
	}
	p.Step(fmt.Sprintf("start %d of %d", n, f.starts))
}

// command follows a command line of the user's.
func (f *explainFlags) command(w World, argv []string) (*timeline.Explanation, error) {
	program, err := w.LookPath(argv[0])
	if err != nil {
		return nil, noProgram(argv[0])
	}
	w, ctx, _, stop := w.interrupts()
	defer stop()
	if lacks := f.lacks(append([]string{"--"}, argv...)); lacks != "" {
		return f.outside(ctx, w, append([]string{program}, argv[1:]...), lacks)
	}
	r, err := trace.Open(f.options())
	if err != nil {
		return nil, fail(Failed, "%w", err)
	}
	defer func() { _ = r.Close() }()
	return f.follow(ctx, w, r, append([]string{program}, argv[1:]...))
}

// follow runs the command traced and untraced, in pairs of random order; the first
// pair warms up.
func (f *explainFlags) follow(ctx context.Context, w World, r *trace.Recorder, argv []string) (*timeline.Explanation, error) {
	var traces []*record.Trace
	var untraced []int64
	show := newProgress(w, f.progress)
	defer show.End()
	for n := range f.starts + 1 {
		f.step(show, n)
		order := []bool{true, false}
		if rand.IntN(2) == 0 {
			order = []bool{false, true}
		}
		for _, traced := range order {
			t, ns, err := r.Command(ctx, argv, traced)
			switch {
			case errors.Is(err, context.Canceled):
				return nil, fail(Interrupted, "interrupted")
			case err != nil:
				return nil, fail(Failed, "%w", err)
			case n == 0:
			case traced:
				traces = append(traces, t)
			default:
				untraced = append(untraced, ns)
			}
		}
	}
	return timeline.Explain(traces, untraced)
}

// outside times the command where it can't be followed.
func (f *explainFlags) outside(ctx context.Context, w World, argv []string, lacks string) (*timeline.Explanation, error) {
	var r *trace.Recorder // one that records nothing
	var starts []map[record.Event]int64
	show := newProgress(w, f.progress)
	defer show.End()
	for n := range f.starts + 1 {
		f.step(show, n)
		_, ns, err := r.Command(ctx, argv, false)
		switch {
		case errors.Is(err, context.Canceled):
			return nil, fail(Interrupted, "interrupted")
		case err != nil:
			return nil, fail(Failed, "%w", err)
		case n > 0:
			starts = append(starts, map[record.Event]int64{record.Request: 0, record.Exit: ns})
		}
	}
	return timeline.Outside(strings.Join(argv, " "), record.Request, record.Exit, starts, lacks)
}
