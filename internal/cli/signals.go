package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// notify gives two contexts: the first ends at the first SIGINT or SIGTERM
// (finish the trial in flight, then clean up), the second at the second
// (break the trial off, then clean up).
func notify() (first, second context.Context, stop func()) {
	first, endFirst := context.WithCancel(context.Background())
	second, endSecond := context.WithCancel(context.Background())
	ch := make(chan os.Signal, 2)
	signal.Notify(ch, os.Interrupt, syscall.SIGTERM)
	done := make(chan struct{})
	go func() {
		for n := 0; ; n++ {
			select {
			case <-ch:
				if n == 0 {
					endFirst()
				} else {
					endSecond()
				}
			case <-done:
				return
			}
		}
	}()
	return first, second, func() {
		signal.Stop(ch)
		close(done)
		endFirst()
		endSecond()
	}
}
