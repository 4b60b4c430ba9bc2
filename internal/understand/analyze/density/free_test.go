package density

import (
	"testing"

	"plimsoll/internal/record"
)

// What is not free has a slope of its own beside what is not available: the
// page cache that the containers fill is in it. It is no part of the sum.
func TestFree(t *testing.T) {
	var steps []record.DensityStep
	for n := range int64(9) {
		payload, host, free := n<<20, n*3<<20, n*7<<20
		phase := record.RampUp
		if n == 0 {
			phase = record.RampBefore
		}
		steps = append(steps, record.DensityStep{Phase: phase, N: int(n), At: n,
			Memory: &record.Memory{Payload: &payload, Host: &host, Free: &free}})
	}
	v := ReadRamp(steps).Values()
	for id, want := range map[string]float64{record.DensityPart + "free": 7 << 20, record.DensityPart + "host": 3 << 20, record.DensityFootprint: 1 << 20} {
		if v[id] != want {
			t.Errorf("%s is %v, want %v", id, v[id], want)
		}
	}
	for i := range steps {
		steps[i].Memory.Free = nil
	}
	told := int64(8 * 5 << 20)
	steps = append(steps, record.DensityStep{Phase: record.RampRest, N: 8, Memory: &record.Memory{Told: &told}})
	if v := ReadRamp(steps).Values()[record.DensityPart+"told"]; v != 5<<20 {
		t.Errorf("the engine tells of %v for each container, want 5 MiB", v)
	}
	if v, ok := ReadRamp(steps).Values()[record.DensityPart+"free"]; ok {
		t.Errorf("nobody read what is free, and it is %v", v)
	}
}
