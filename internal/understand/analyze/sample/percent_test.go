package sample

import "testing"

// A share is said by three digits, and never by a power of ten that nobody reads.
func TestPercentOfALargeShare(t *testing.T) {
	for f, want := range map[float64]string{0.05: "5 %", 0.12345: "12.3 %", 9.994: "999 %", 9.996: "1000 %", 10.84: "1084 %", -12.3456: "-1235 %", 0: "0 %", 1e-7: "1e-05 %"} {
		if got := Percent(f); got != want {
			t.Errorf("%g: %q, expected %q", f, got, want)
		}
	}
}
