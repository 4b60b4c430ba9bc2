package calibrate

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
)

// Spread is the standard deviation of a trial's logarithm in the plainest
// shape, and the scale of the others: 3 %.
const Spread = 0.03

// common is the standard deviation of what all trials of a block share.
const common = 0.03

// Shape is how a trial's time scatters around its environment's.
type Shape struct {
	Name string `json:"name"`
	What string `json:"what"`

	noise func(*rand.Rand) float64                 // on the logarithm
	like  func(*rand.Rand) float64                 // the baseline's, nil: the same
	drift func(r *rand.Rand, blocks int) []float64 // of the machine, by block
	// quantum rounds values to multiples of this share of the baseline's median.
	quantum float64

	once   sync.Once
	sorted []float64 // draws of noise, with what a block shares where it shares anything
	mu     sync.Mutex
	apart  map[[2]int]float64
}

// Shapes lists what is simulated.
func Shapes() []*Shape {
	return []*Shape{
		{Name: "log-normal", What: "3 %", noise: normal},
		{Name: "two humps", What: "half of the values 50 % slower", noise: humps(0.5)},
		{Name: "two humps 70:30", What: "three of ten values 50 % slower", noise: humps(0.3)},
		{Name: "heavy tails", What: "Student's t, 2.5 degrees of freedom, times 3 %", noise: func(r *rand.Rand) float64 { return Spread * student(r, 2.5) }},
		{Name: "outliers", What: "3 %, and one value in twenty multiplied by 1.1 and a Pareto's (1.5)", noise: outliers},
		{Name: "linear drift", What: "3 %, and the machine 20 % slower at the end", noise: normal, drift: linear},
		{Name: "random walk", What: "3 %, and the machine moves by 2 % from block to block", noise: normal, drift: walk},
		{Name: "ties", What: "3 %, rounded to steps of 5 %", noise: normal, quantum: 0.05},
		{Name: "unlike", What: "two humps 70:30 against a log-normal baseline", noise: humps(0.3), like: normal},
	}
}

func normal(r *rand.Rand) float64 { return Spread * r.NormFloat64() }

func humps(share float64) func(*rand.Rand) float64 {
	return func(r *rand.Rand) float64 {
		v := normal(r)
		if r.Float64() < share {
			v += math.Log(1.5)
		}
		return v
	}
}

// student draws from Student's t by Bailey's polar method (Mathematics of
// Computation 62, 1994, 779–781).
func student(r *rand.Rand, nu float64) float64 {
	for {
		u, v := 2*r.Float64()-1, 2*r.Float64()-1
		if w := u*u + v*v; w > 0 && w <= 1 {
			return u * math.Sqrt(nu*(math.Pow(w, -2/nu)-1)/w)
		}
	}
}

func outliers(r *rand.Rand) float64 {
	v := normal(r)
	if r.Float64() < 0.05 {
		v += math.Log(1.1) - math.Log(1-r.Float64())/1.5
	}
	return v
}

func linear(_ *rand.Rand, blocks int) []float64 {
	out := make([]float64, blocks)
	for b := range out {
		out[b] = math.Log(1.2) * float64(b) / float64(blocks-1)
	}
	return out
}

func walk(r *rand.Rand, blocks int) []float64 {
	out := make([]float64, blocks)
	for b := 1; b < blocks; b++ {
		out[b] = out[b-1] + 0.02*r.NormFloat64()
	}
	return out
}

// spells: the machine is 25 % slower for five blocks or so, and then is not.
func spells(r *rand.Rand, blocks int) []float64 {
	out := make([]float64, blocks)
	now := 0.0
	for b := range out {
		if r.Float64() < 0.2 {
			now = math.Log(1.25) - now
		}
		out[b] = now
	}
	return out
}

// drifts are how a machine can move, in each of which every shape is tried for
// two runs.
var drifts = []struct {
	name, what string
	move       func(*rand.Rand, int) []float64
}{
	{"blocks", "blocks differ by 3 %", nil},
	{"linear", "20 % slower at the end", linear},
	{"walk", "moves by 2 % from block to block", walk},
	{"spells", "25 % slower for five blocks or so, and then not", spells},
}

// draws is how many values a shape's own median is computed from: its rank is
// then right to 0.1 %, far less than any interval here spans.
const draws = 200_000

func (s *Shape) prepare() {
	s.once.Do(func() {
		r := rand.New(rand.NewPCG(99, 99))
		s.sorted = make([]float64, draws)
		for i := range s.sorted {
			s.sorted[i] = s.noise(r)
			if s.drift == nil {
				s.sorted[i] += common * r.NormFloat64()
			}
		}
		slices.Sort(s.sorted)
	})
}

// shift is the true log ratio of an environment whose effect is 1 to the
// baseline, as a block's mean over so many workloads of the median of so many
// trials: the pseudo-median of its distribution. It is 0 where both are alike.
func (s *Shape) shift(perBlock, works int) float64 {
	if s.like == nil {
		return 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	key := [2]int{perBlock, works}
	if v, ok := s.apart[key]; ok {
		return v
	}
	r := rand.New(rand.NewPCG(98, uint64(perBlock*works)))
	x := make([]float64, perBlock)
	median := func(draw func(*rand.Rand) float64) float64 {
		for i := range x {
			x[i] = draw(r)
		}
		slices.Sort(x)
		return (x[(perBlock-1)/2] + x[perBlock/2]) / 2
	}
	walsh := make([]float64, draws)
	for i := range walsh {
		for range 2 * works {
			walsh[i] += (median(s.noise) - median(s.like)) / float64(2*works)
		}
	}
	slices.Sort(walsh)
	if s.apart == nil {
		s.apart = map[[2]int]float64{}
	}
	s.apart[key] = walsh[draws/2]
	return s.apart[key]
}

// rounded is what becomes of a value, ns.
func (s *Shape) rounded(v float64) float64 {
	if q := nativeMedian * s.quantum; q > 0 {
		return math.Round(v/q) * q
	}
	return v
}

// median is the true median of an environment whose effect is 1, on the
// logarithm. Without drift it is that of all runs. With drift it is that of
// this run: of the mixture over its blocks, since no single run can know more.
func (s *Shape) median(drift []float64) float64 {
	s.prepare()
	if s.drift == nil {
		return s.sorted[draws/2]
	}
	lo, hi := slices.Min(drift)+s.sorted[0], slices.Max(drift)+s.sorted[draws-1]
	for range 40 {
		mid := (lo + hi) / 2
		below := 0
		for _, d := range drift {
			k, _ := slices.BinarySearch(s.sorted, mid-d)
			below += k
		}
		if 2*below < draws*len(drift) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}
