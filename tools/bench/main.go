// Command bench measures what Plimsoll claims of itself: "truth" compares the
// stopwatch with others, "cost" prints what a trial costs, "drivers" compares the
// adapters with the smallest client of the same engine, "aa" counts how often an
// environment is told from itself, "calibration" how often the statistics are right,
// and "sharp" measures how small a change is found and how soon. "screenshots" takes
// the documentation's pictures of a run. The Makefile runs each (make bench-truth,
// make screenshots).
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"plimsoll/tools/bench/aa"
	"plimsoll/tools/bench/sharp"
	"plimsoll/tools/bench/sharp/measured"
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
		"truth": truth, "cost": cost, "drivers": drivers, "aa": aa.Bench, "calibration": calibration, "sharp": sharpness, "screenshots": screenshots,
	}[what]
	if run == nil {
		return fmt.Errorf("%q is none of truth, cost, drivers, aa, calibration, sharp and screenshots", what)
	}
	return run(ctx, os.Args[2:]...)
}

func sharpness(ctx context.Context, args ...string) error {
	return sharp.Bench(ctx, measured.Engines(), measured.Measure, args...)
}
