package stats

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// TestSort compares it with slices.Sort.
func TestSort(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 11))
	for kind := range kinds {
		for _, n := range []int{0, 1, 10, manySorted, 5000} {
			x := valuesOf(r, kind, n)
			want := slices.Clone(x)
			slices.Sort(want)
			if Sort(x); !slices.Equal(x, want) {
				t.Errorf("%d of kind %d are not in order", n, kind)
			}
		}
	}
	x := append(valuesOf(r, 0, manySorted), math.NaN())
	if Sort(x); !math.IsNaN(x[0]) || !slices.IsSorted(x) {
		t.Error("what is no number does not come first, as slices.Sort has it")
	}
}

// signedRankByList is SignedRank by a list of all ranks.
func signedRankByList(d []float64) float64 {
	x := slices.DeleteFunc(slices.Clone(d), func(v float64) bool { return v == 0 })
	n := len(x)
	if n == 0 {
		return 1
	}
	slices.SortFunc(x, func(a, b float64) int { return cmp.Compare(math.Abs(a), math.Abs(b)) })
	// Ranks are doubled, so that mean ranks are whole.
	ranks := make([]int, n)
	plus, tied := 0, false
	for i := 0; i < n; {
		j := i
		for j < n && math.Abs(x[j]) == math.Abs(x[i]) {
			j++
		}
		for k := i; k < j; k++ {
			ranks[k] = i + j + 1
			if x[k] > 0 {
				plus += ranks[k]
			}
		}
		tied = tied || j > i+1
		i = j
	}
	if n > exactTo {
		mu, squares := 0.0, 0.0
		for _, r := range ranks {
			mu += float64(r) / 4
			squares += float64(r) * float64(r) / 16
		}
		z := (math.Abs(float64(plus)/2-mu) - 0.5) / math.Sqrt(squares)
		return min(1, 2*distuv.UnitNormal.Survival(max(z, 0)))
	}
	var p []float64
	if tied {
		p = subsetSums(ranks)
	} else {
		p, plus = signedRanks(n), plus/2
	}
	low, high := 0.0, 0.0
	for s, v := range p {
		if s <= plus {
			low += v
		}
		if s >= plus {
			high += v
		}
	}
	return min(1, 2*min(low, high))
}

// TestSignedRankByList compares it with that.
func TestSignedRankByList(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 12))
	for kind := range kinds {
		for _, n := range []int{1, 2, 5, 20, exactTo, exactTo + 1, 300, 3000} {
			d := valuesOf(r, kind, n)
			if got, want := SignedRank(d), signedRankByList(d); math.Abs(got-want) > 1e-12*want {
				t.Errorf("%d of kind %d: p %v, want %v", n, kind, got, want)
			}
			for i := range d {
				d[i] = -d[i]
			}
			if got, want := SignedRank(d), signedRankByList(d); math.Abs(got-want) > 1e-12*want {
				t.Errorf("%d of kind %d, the other way: p %v, want %v", n, kind, got, want)
			}
		}
	}
}

// TestCliffByPairs compares it with counting all pairs.
func TestCliffByPairs(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 13))
	for kind := range kinds {
		for _, n := range []int{1, 10, 200} {
			a, b := valuesOf(r, kind, n), valuesOf(r, (kind+r.IntN(2))%kinds, 1+r.IntN(200))
			sum := 0
			for _, x := range a {
				for _, y := range b {
					sum += cmp.Compare(x, y)
				}
			}
			if got, want := CliffDelta(a, b), float64(sum)/float64(len(a)*len(b)); got != want {
				t.Errorf("%d and %d of kind %d: %v, want %v", n, len(b), kind, got, want)
			}
		}
	}
}
