package engine

import "testing"

// A limit of one environment takes the study's place there, and leaves its
// memory and the other levels alone.
func TestLimited(t *testing.T) {
	study := Limits{CPUs: 1, MemoryBytes: 1 << 30}
	for _, c := range []struct {
		level string
		cpus  float64
	}{{"", 1}, {DefaultLevel, 1}, {NoLimit, 0}, {"0.5", 0.5}, {"2", 2}} {
		levels := map[string]string{Client: "cli", CPULimit: c.level}
		rest, got, err := Limited(levels, study)
		if err != nil || got != (Limits{CPUs: c.cpus, MemoryBytes: 1 << 30}) || len(rest) != 1 || rest[Client] != "cli" || len(levels) != 2 {
			t.Errorf("%q: %v, %+v, %v", c.level, rest, got, err)
		}
	}
	for _, level := range CPULimits[2:] {
		if _, ok := CPUs(level); !ok {
			t.Errorf("%q is offered, and no number of CPUs", level)
		}
	}
	for _, level := range []string{"half", "0", "-1", "0.001", "1e1", "01", "NaN", "Inf", "5000"} {
		if _, _, err := Limited(map[string]string{CPULimit: level}, study); err == nil {
			t.Errorf("%q is taken", level)
		}
	}
	if rest, got, err := Limited(nil, study); err != nil || rest != nil || got != study {
		t.Errorf("no levels: %v, %+v, %v", rest, got, err)
	}
}
