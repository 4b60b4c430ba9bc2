package adapter

import (
	"context"
	"testing"
)

func TestPool(t *testing.T) {
	var p Pool[int]
	starts, ends := 0, 0
	start := func(context.Context) (int, func(context.Context) error, error) {
		starts++
		return 7, func(context.Context) error { ends++; return nil }, nil
	}
	v, one, err := p.Get(t.Context(), "k", start)
	_, two, _ := p.Get(t.Context(), "k", start)
	if v != 7 || err != nil || starts != 1 {
		t.Fatalf("%d, %v after %d starts", v, err, starts)
	}
	for range 2 {
		if err := one(t.Context()); err != nil || ends != 0 {
			t.Errorf("ended while in use: %d, %v", ends, err)
		}
	}
	for range 2 {
		if err := two(t.Context()); err != nil || ends != 1 {
			t.Errorf("ended %d times, %v", ends, err)
		}
	}
}
