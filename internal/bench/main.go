// Command bench prints what Plimsoll claims of itself, measured in one run:
// "truth" holds the stopwatch beside others', "cost" what a trial costs us.
// It is for the makers of Plimsoll (make bench-truth, make bench-cost).
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var err error
	switch what := append(os.Args, "")[1]; what {
	case "truth":
		err = truth(ctx)
	case "cost":
		err = cost(ctx)
	default:
		err = fmt.Errorf("bench: %q is neither truth nor cost", what)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}
