package run

import (
	"flag"
	"os"
	"sync"
	"testing"

	"plimsoll/internal/common/require"
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
