package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"plimsoll/internal/measure/child"
	"plimsoll/internal/measure/host/proc"
)

// served is a `plimsoll serve` of its own.
type served struct {
	cmd     *child.Process
	address string
}

func startServe(ctx context.Context, plimsoll, dir string) (*served, error) {
	out, w := io.Pipe()
	cmd, err := child.Start(ctx, child.Command{Argv: []string{plimsoll, "serve", dir, "--listen", "127.0.0.1:0"}, Stdout: w, Grace: 10 * time.Second})
	if err != nil {
		return nil, err
	}
	go func() {
		<-cmd.Ended()
		_ = w.Close() // never fails
	}()
	said := bufio.NewReader(out)
	line, err := said.ReadString('\n')
	if err != nil {
		_, ended := cmd.Wait()
		return nil, fmt.Errorf("starting plimsoll serve: %w", errors.Join(err, ended))
	}
	go func() { _, _ = io.Copy(io.Discard, said) }() // else it would wait for us
	return &served{cmd, strings.TrimSuffix(strings.TrimSpace(line), "/")}, nil
}

// stop ends it as a user does.
func (s *served) stop() {
	_ = s.cmd.Signal(os.Interrupt) // it may have ended
	if _, err := s.cmd.Wait(); err != nil {
		fmt.Fprintln(os.Stderr, "bench: plimsoll serve ended with", err)
	}
}

// cpu is what it has used of processors so far, to a grain of 10 ms.
func (s *served) cpu() time.Duration {
	p, _ := proc.Here.Stat(s.cmd.PID) // one that has ended used nothing more
	return time.Duration(p.Ticks) * 10 * time.Millisecond
}

// memory is its peak resident memory, MiB.
func (s *served) memory() float64 {
	n, _ := peakMemory(proc.PID(s.cmd.PID))
	return float64(n) / (1 << 20)
}

// viewing counts what a viewer got.
type viewing struct{ events, data, done atomic.Int64 }

// look does what a browser does with the page of the only run, until the
// context ends.
func (s *served) look(ctx context.Context, v *viewing) error {
	var index struct{ Runs []struct{ ID string } }
	if err := s.get(ctx, "/api/runs", &index); err != nil {
		return ended(ctx, err)
	}
	if len(index.Runs) != 1 {
		return fmt.Errorf("the index has %d runs, not 1", len(index.Runs))
	}
	run := "/api/runs/" + index.Runs[0].ID
	var skip struct{}
	if err := s.get(ctx, run, &skip); err != nil {
		return ended(ctx, err)
	}
	v.data.Add(1)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.address+run+"/events", nil)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return ended(ctx, err)
	}
	defer answer.Body.Close()
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		if lines.Text() == "event: end" { // the run is over, and with it the stream
			return nil
		}
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var l struct {
			Done   int64
			Charts bool
		}
		if err := json.Unmarshal([]byte(data), &l); err != nil {
			return err
		}
		v.events.Add(1)
		v.done.Store(max(l.Done, v.done.Load()))
		if l.Charts {
			if err := s.get(ctx, run, &skip); err != nil {
				return ended(ctx, err)
			}
			v.data.Add(1)
		}
	}
	return ended(ctx, lines.Err())
}

// ended takes the end of the context for none of an error's.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	if err == nil {
		return errors.New("the event stream ended")
	}
	return err
}

func (s *served) get(ctx context.Context, path string, into any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.address+path, nil)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s: %s", path, answer.Status, b)
	}
	return json.Unmarshal(b, into)
}
