package stamp

import (
	"runtime/debug"
	"testing"
)

func TestQuiet(t *testing.T) {
	before := debug.SetGCPercent(77)
	defer debug.SetGCPercent(before)
	one, two := Quiet(), Quiet()
	one()
	if p := debug.SetGCPercent(-1); p != -1 {
		t.Errorf("with one of two trials over, the collector is at %d %%", p)
	}
	two()
	if p := debug.SetGCPercent(77); p != 77 {
		t.Errorf("after both trials the collector is at %d %%, want 77", p)
	}
}

func TestStream(t *testing.T) {
	s := NewStream(8)
	select {
	case <-s.Ready():
		t.Fatal("ready before the first byte")
	default:
	}
	if _, err := s.Write(nil); err != nil || s.First() != 0 {
		t.Errorf("nothing written made an event: %d, %v", s.First(), err)
	}
	before := Now()
	for _, text := range []string{"hello ", "world"} {
		if n, err := s.Write([]byte(text)); n != len(text) || err != nil {
			t.Errorf("%q: %d, %v", text, n, err)
		}
	}
	<-s.Ready()
	if got := string(s.Kept()); got != "hello wo" {
		t.Errorf("kept %q, want the first 8 bytes", got)
	}
	if s.First() < before || s.First() > Now() {
		t.Errorf("first at %d, written between %d and %d", s.First(), before, Now())
	}
}
