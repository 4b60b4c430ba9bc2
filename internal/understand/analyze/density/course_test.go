package density

import (
	"slices"
	"testing"

	"plimsoll/internal/record"
)

// sampledRamp is one of three containers, of 5 MiB each, with a sample every 50 ms; the
// start of the second takes a hundred more while it lasts, and the stop of the third
// ten. A start takes 200 ms, a stop 100 ms, and what lies between 100 ms.
func sampledRamp(offset int64) []record.DensityStep {
	const ms = int64(1e6)
	var out []record.DensityStep
	at, taken := int64(1e12), offset
	let := func(d, more int64) {
		for end := at + d; at < end; at += 50 * ms {
			free := taken + more
			out = append(out, record.DensityStep{Phase: record.RampSample, At: at, Memory: &record.Memory{Free: &free}})
		}
	}
	let(100*ms, 0)
	for n := 1; n <= 3; n++ {
		begin := at - ms
		let(200*ms, []int64{0, 100 << 20, 0}[n-1])
		taken += 5 << 20
		out = append(out, record.DensityStep{Phase: record.RampUp, N: n, At: at - ms, Events: map[record.Event]int64{record.Request: begin, record.Ready: at - ms}})
		let(100*ms, 0)
	}
	for n := 2; n >= 0; n-- {
		begin := at - ms
		let(100*ms, []int64{0, 0, 10 << 20}[n])
		taken -= 5 << 20
		out = append(out, record.DensityStep{Phase: record.RampDown, N: n, At: at - ms, Events: map[record.Event]int64{record.Stop: begin, record.Removed: at - ms}})
		let(100*ms, 0)
	}
	return out
}

// What a start takes only while it lasts is a spike, and what it leaves taken is none.
func TestSpikes(t *testing.T) {
	r := ReadRamp(sampledRamp(1 << 30))
	v := r.Values()
	// The second start begins at 5 MiB and ends at 10; the third stop at 15 and at 10.
	for id, want := range map[string]float64{record.DensityPeak: 105 << 20, record.DensitySpike: 95 << 20, record.DensitySpikes: 1} {
		if v[id] != want {
			t.Errorf("%s is %v, want %v", id, v[id], want)
		}
	}
	if want := []float64{0, 95 << 20, 0, 10 << 20, 0, 0}; !slices.Equal(r.Spikes, want) {
		t.Errorf("spikes %v, want %v", r.Spikes, want)
	}
	// A start between two samples has none that is known.
	var few []record.DensityStep
	for i, s := range sampledRamp(0) {
		if s.Phase != record.RampSample || i%8 == 0 {
			few = append(few, s)
		}
	}
	if n := len(ReadRamp(few).Spikes); n == 0 || n >= 6 {
		t.Errorf("%d spikes are known of few samples", n)
	}
	// Records of earlier versions have no samples.
	plain := slices.DeleteFunc(sampledRamp(0), func(s record.DensityStep) bool { return s.Phase == record.RampSample })
	old := ReadRamp(plain)
	if _, ok := old.Values()[record.DensityPeak]; ok || len(old.Course.N) > 0 || len(old.Spikes) > 0 {
		t.Errorf("nobody sampled, and there are %+v", old)
	}
	if c := New("docker", 3, []*Ramp{old}); c.Course != nil {
		t.Errorf("nobody sampled, and there is %+v", c.Course)
	}
}

// The course of several ramps keeps the spike, and counts from where each began.
func TestCourse(t *testing.T) {
	var ramps []*Ramp
	for i := range int64(3) {
		ramps = append(ramps, ReadRamp(sampledRamp(i<<30)))
	}
	c := New("docker", 3, ramps).Course
	if c == nil || c.N[0] != 0 || c.Y[0] != 0 || slices.Max(c.Y) != 105<<20 || c.Y[len(c.Y)-1] != 0 {
		t.Fatalf("%+v", c)
	}
	// Three starts, three stops and what lies between: 1.6 s in stretches of 0.1 s.
	if len(c.N) < 15 || len(c.N) > 17 || !slices.IsSorted(c.N) {
		t.Errorf("%d stretches: %v", len(c.N), c.N)
	}
}
