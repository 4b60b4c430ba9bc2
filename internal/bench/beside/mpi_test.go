package beside

import (
	"strings"
	"testing"
)

func TestReadNetPIPE(t *testing.T) {
	const text = "1: vm\nUsing no perturbations\n\n0: vm\nNow starting the main loop\n  0:    4096 bytes  10075 times -->  23598.00 Mbps in       1.32 usec\n"
	if got, err := ReadNetPIPE([]byte(text), 4096); err != nil || got != 1320 {
		t.Errorf("%v, %v", got, err)
	}
	for _, bad := range []string{"", strings.Replace(text, "4096", "4097", 1), strings.Replace(text, "1.32", "0.00", 1)} {
		if got, err := ReadNetPIPE([]byte(bad), 4096); err == nil {
			t.Errorf("%q: %v", bad, got)
		}
	}
}

// A verdict is only given for what the interval proves.
func TestShowLatency(t *testing.T) {
	var same, other, wild []float64
	for k := range 12 {
		x := 1000 + float64(k)
		same, other, wild = append(same, x), append(other, 1.2*x), append(wild, x*[]float64{0.7, 1, 1.4}[k%3])
	}
	for _, c := range []struct {
		size int
		ours []float64
		want string
		n    int
	}{{4096, same, "met", 0}, {4096, other, "MISSED", 1}, {4096, wild, "undecided", 0}, {64, other, "not judged", 0}} {
		var out strings.Builder
		if n := ShowLatency(&out, "native", c.size, c.ours, same); n != c.n || !strings.HasSuffix(strings.TrimSpace(out.String()), c.want) {
			t.Errorf("%q, %d: want %s", out.String(), n, c.want)
		}
	}
}
