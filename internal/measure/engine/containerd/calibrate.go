package containerd

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/containerd/containerd/v2/client"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/stamp"
	"plimsoll/internal/measure/probe"
)

// Calibrate sends lines to the payload by the FIFO of its standard input, and
// reads its stamps from that of its output.
func (env *environment) Calibrate(ctx context.Context, task engine.Task, rounds int) ([]probe.Exchange, error) {
	if f := env.taken(task.Name); f != nil {
		return nil, fmt.Errorf("exchanging clocks with %s: %s", task.Name, f.Text)
	}
	call := env.calibrateAPI
	if env.cli != nil {
		call = env.calibrateCLI
	}
	return env.Exchange(ctx, task, func() ([]probe.Exchange, error) { return call(ctx, task, rounds) })
}

func (env *environment) calibrateAPI(ctx context.Context, task engine.Task, rounds int) ([]probe.Exchange, error) {
	in, out := io.Pipe()
	x := &exchange{rounds: rounds, to: out, answers: make(chan answer, 1)}
	running := make(chan client.Task, 1)
	l, f := env.life(task)
	if f != nil {
		return nil, fmt.Errorf("exchanging clocks with %s: %s", task.Name, f.Text)
	}
	l.stdin, l.also, l.running = in, x, running
	over := make(chan engine.Result, 1)
	go func() {
		over <- env.Carry(ctx, l)
		close(running)
		close(x.answers)
	}()
	offsets := x.hold()
	_ = out.Close() // the payload ends at the end of its input
	if task := <-running; task != nil {
		// The shim holds the other end of the input open too. Where it can't
		// be closed, the trial's time limit says so.
		_ = task.CloseIO(ctx, client.WithStdinCloser)
	}
	for range x.answers {
	}
	if res := <-over; res.Failure != nil || len(offsets) < rounds {
		text := fmt.Sprintf("exchanging clocks with %s: %d of %d rounds came back", task.Name, len(offsets), rounds)
		if res.Failure != nil {
			text += ": " + res.Failure.Text
		}
		return nil, fmt.Errorf("%s", text)
	}
	return offsets, nil
}

type answer struct{ inside, received int64 }

// exchange is the conversation: it sees the payload's output as it comes.
type exchange struct {
	rounds  int
	to      io.Writer
	answers chan answer
	rest    []byte
}

// Write takes the payload's output apart. The first line of all is its
// greeting, and starts the exchange.
func (x *exchange) Write(p []byte) (int, error) {
	at := stamp.Now()
	x.rest = append(x.rest, p...)
	for {
		line, rest, ok := bytes.Cut(x.rest, []byte("\n"))
		if !ok {
			return len(p), nil
		}
		x.rest = rest
		if a, ok := parseAnswer(string(line)); ok {
			x.answers <- answer{inside: a, received: at}
		}
	}
}

// parseAnswer reads the greeting ("plimsoll 1 WORD first NS") and the stamps
// ("plimsoll at NS").
func parseAnswer(line string) (int64, bool) {
	f := strings.Fields(line)
	if len(f) < 3 || f[0] != "plimsoll" || (f[1] != "at" && f[len(f)-2] != "first") {
		return 0, false
	}
	n, err := strconv.ParseInt(f[len(f)-1], 10, 64)
	return n, err == nil
}

// hold carries the rounds out, once the greeting has come.
func (x *exchange) hold() []probe.Exchange {
	var offsets []probe.Exchange
	if _, ok := <-x.answers; !ok {
		return nil
	}
	w := bufio.NewWriter(x.to)
	for range x.rounds {
		sent := stamp.Now()
		_, _ = w.WriteString(".\n")
		if w.Flush() != nil {
			return offsets
		}
		a, ok := <-x.answers
		if !ok {
			return offsets
		}
		offsets = append(offsets, probe.Exchange{Sent: sent, Inside: a.inside, Received: a.received})
	}
	return offsets
}
