package child

import (
	"errors"
	"testing"
	"time"
)

func TestSlower(t *testing.T) {
	for took, want := range map[time.Duration]float64{time.Millisecond: 1, soon: 1, 3 * soon: 3, time.Second: most} {
		if got := slower(took); got != want {
			t.Errorf("%v a program: %g, want %g", took, got, want)
		}
	}
	if n := learn(); n < 1 || n > most {
		t.Errorf("learnt %g", n)
	}
}

// TestPatience: what is set stretches the limit of a program.
func TestPatience(t *testing.T) {
	before := patience.Load()
	defer patience.Store(before)
	for n, ends := range map[float64]bool{1: false, 100: true} {
		SetPatience(n)
		_, err := Run(t.Context(), Command{Argv: []string{"sleep", "0.5"}, Limit: 50 * time.Millisecond})
		if hung := new(HungError); errors.As(err, &hung) == ends {
			t.Errorf("patience %g: %v", n, err)
		}
	}
}
