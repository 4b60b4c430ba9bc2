package beside

import (
	"math"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
)

func TestReadPhases(t *testing.T) {
	p, err := ReadPhases("1700000000.000000 1700000000.087000 1700000000.656000 1700000001.043000 Hello World abcd\n", "abcd")
	require.NoError(t, err)
	for i, want := range (Phases{87, 569, 387}) {
		if math.Abs(p[i]-want) > 0.01 {
			t.Errorf("%s took %v ms, want %v", CommandPhases[i].Name, p[i], want)
		}
	}
	for _, line := range []string{"docker start\n", "1 2 3 4 Hello World other\n", "1 2 3 Hello World abcd\n", "1 2 x 4 Hello World abcd\n"} {
		if _, err := ReadPhases(line, "abcd"); err == nil {
			t.Errorf("%q was read", line)
		}
	}
}

// A verdict is only given for what the interval proves.
func TestShowCommands(t *testing.T) {
	var ours, theirs []Phases
	for k := range 12 {
		x := 100 + float64(k)
		wild := x * math.Pow(1.3, float64(k%3-1))
		ours, theirs = append(ours, Phases{x * 1.2, x * (1 + float64(k%2)/100), wild}), append(theirs, Phases{x, x, x})
	}
	var out strings.Builder
	if n := ShowCommands(&out, ours, theirs); n != 1 {
		t.Errorf("%d differ", n)
	}
	lines := strings.Split(out.String(), "\n")
	for i, want := range []string{"MISSED", "met", "undecided"} {
		if !strings.HasSuffix(lines[i], want) {
			t.Errorf("%q, want %s", lines[i], want)
		}
	}
}
