// Command bench prints what Plimsoll claims of itself, measured in one run:
// "truth" holds the stopwatch beside others', "cost" what a trial costs us,
// "drivers" our adapters beside the least that a client can do, "commands" the
// commands of a published study in a shell loop beside ours, "collect" what
// watching containers costs, "aa" how often an environment is told from itself,
// "calibration" how often the statistics keep what they say, "sharp" how small a
// change is found and how soon, "report" how large the report of a million trials is
// and how soon it can be used, "serve" what a viewer of a run costs, "mpi" our MPI
// latency beside NetPIPE's; "screenshots" takes the documentation's pictures of a real
// run. It is for the makers of Plimsoll (make bench-truth, bench-cost, bench-drivers,
// bench-commands, bench-collect, bench-aa, bench-calibration, bench-sharp,
// bench-report, bench-serve, bench-mpi, screenshots).
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"plimsoll/internal/bench/aa"
	"plimsoll/internal/bench/sharp"
	"plimsoll/internal/bench/sharp/measured"
)

func main() {
	if err := bench(append(os.Args, "")[1]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func bench(what string) error {
	// A reader who has gone (| head) ends it as an interrupt does: what was made
	// is removed.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
	defer stop()
	run := map[string]func(context.Context, ...string) error{
		"truth": truth, "cost": cost, "drivers": drivers, "commands": commands, "collect": collectors, "aa": aa.Bench, "calibration": calibration,
		"sharp": sharpness, "report": reports, "serve": servePages, "mpi": mpiLatency, "screenshots": screenshots,
	}[what]
	if run == nil {
		return fmt.Errorf("%q is none of truth, cost, drivers, commands, collect, aa, calibration, sharp, report, serve, mpi and screenshots", what)
	}
	return run(ctx, os.Args[2:]...)
}

func sharpness(ctx context.Context, args ...string) error {
	return sharp.Bench(ctx, measured.Engines(), measured.Measure, args...)
}
