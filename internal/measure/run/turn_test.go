package run

import (
	"context"
	"errors"
	"flag"
	"os"
	"sync"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine/fake"
	"plimsoll/internal/measure/host"
)

// With -short engines are simulated and nothing of this machine is measured:
// runs then share a turn of this process's own, so that the tests wait neither
// for a measurement of this machine nor keep one waiting.
func TestMain(m *testing.M) {
	flag.Parse()
	if testing.Short() {
		queue = ownTurn()
	}
	os.Exit(m.Run())
}

// ownTurn is a turn that one run at a time has, without an order.
func ownTurn() func(bool, func(string) string, string) (waiter, error) {
	turn := &ownWaiter{}
	return func(bool, func(string) string, string) (waiter, error) { return turn, nil }
}

type ownWaiter struct{ turn sync.Mutex }

func (w *ownWaiter) Lock() (func(), *host.BusyError, error) {
	if !w.turn.TryLock() {
		return nil, nil, &host.BusyError{PID: os.Getpid(), File: "the tests' own turn"}
	}
	return sync.OnceFunc(w.turn.Unlock), nil, nil
}
func (w *ownWaiter) Join() error { return nil }
func (w *ownWaiter) Leave()      {}

// A turn that is taken is waited for, and given back once though it is given
// back twice.
func TestTurn(t *testing.T) {
	defer func(before func(bool, func(string) string, string) (waiter, error)) { queue = before }(queue)
	queue = ownTurn()
	first, err := (&Options{}).Turn(t.Context())
	require.NoError(t, err)
	if _, err := (&Options{}).Turn(t.Context()); err == nil {
		t.Fatal("two have the turn at once")
	}
	got := make(chan error)
	go func() {
		unlock, err := (&Options{Wait: true}).Turn(t.Context())
		if err == nil {
			unlock()
		}
		got <- err
	}()
	first()
	first()
	if err := <-got; err != nil {
		t.Errorf("waiting for the turn: %v", err)
	}
}

// Another Plimsoll keeps the machine busy until the turn comes: the machine is judged
// then, and what was judged ends the run before anything is written.
func TestTheMachineIsJudgedAfterWaiting(t *testing.T) {
	defer func(before func(bool, func(string) string, string) (waiter, error)) { queue = before }(queue)
	queue = ownTurn()
	other, err := (&Options{}).Turn(t.Context())
	require.NoError(t, err)
	o := options(t, 1, fake.New())
	o.Wait = true
	refused := errors.New("too busy")
	judged := make(chan bool, 1)
	measuring := true // by the other; read only when it has ended
	o.Judge = func(context.Context) error {
		judged <- measuring
		return refused
	}
	ended := make(chan error)
	go func() {
		_, err := Execute(t.Context(), o)
		ended <- err
	}()
	time.Sleep(300 * time.Millisecond) // it would have judged by now
	measuring = false
	other()
	if err := <-ended; !errors.Is(err, refused) {
		t.Errorf("refused by its judge, the run ends with %v", err)
	}
	if <-judged {
		t.Error("the machine was judged while another run measured")
	}
	if _, err := os.Stat(o.Dir); err == nil {
		t.Errorf("a refused run has written %s", o.Dir)
	}
}
