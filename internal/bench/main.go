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
	if err := bench(append(os.Args, "")[1]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func bench(what string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	switch what {
	case "truth":
		return truth(ctx)
	case "cost":
		return cost(ctx)
	}
	return fmt.Errorf("%q is neither truth nor cost", what)
}
