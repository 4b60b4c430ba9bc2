package advise

import (
	"math"
	"math/rand/v2"
)

// Sensitivity says how far the first place hangs on the weights. It is about
// the estimates as they stand; how sure they are is the letters' business.
type Sensitivity struct {
	// Changes says for each criterion how its weight alone would have to change
	// for another environment to come first: the nearest one up and the
	// nearest one down, where there are any.
	Changes []Change `json:"changes"`
	// First is the share of first places by environment, in the ranking's
	// order, over Draws random weights: each is multiplied by the exponential
	// of a normal number with the standard deviation Spread.
	First  []Chance `json:"first"`
	Draws  int      `json:"draws"`
	Spread float64  `json:"spread"`
	Seed   uint64   `json:"seed"`
}

// Change is a weight at which another environment draws level with the first.
type Change struct {
	Criterion int     `json:"criterion"` // its place in Advice.Criteria
	Weight    float64 `json:"weight"`    // as given
	At        float64 `json:"at"`
	Env       string  `json:"env"` // comes first beyond
}

// Chance is a share of first places.
type Chance struct {
	Env   string  `json:"env"`
	Share float64 `json:"share"`
}

const (
	// spread lets two thirds of the weights stay between half and double.
	spread       = math.Ln2
	seed         = 1
	defaultDraws = 10_000
)

// sensitivity is nil where there is nobody to change places with.
func (a *Advice) sensitivity(cols []*column, mean map[string][]float64) *Sensitivity {
	if len(a.Ranked) < 2 {
		return nil
	}
	costs, weights := make([][]float64, len(a.Ranked)), make([]float64, len(cols))
	for i, r := range a.Ranked {
		costs[i] = mean[r.Env]
	}
	for i, c := range cols {
		weights[i] = a.Criteria[c.at].Weight
	}
	s := &Sensitivity{Changes: []Change{}, Draws: a.draws, Spread: spread, Seed: seed}
	for c := range weights {
		for _, up := range []bool{true, false} {
			if env, at, ok := overtakes(costs, weights, c, up); ok {
				s.Changes = append(s.Changes, Change{Criterion: cols[c].at, Weight: weights[c], At: at, Env: a.Ranked[env].Env})
			}
		}
	}
	for i, n := range firsts(costs, weights, s.Draws) {
		s.First = append(s.First, Chance{Env: a.Ranked[i].Env, Share: float64(n) / float64(s.Draws)})
	}
	return s
}

// overtakes finds the weight of criterion c, above or below the given one,
// at which a row of costs first draws level with the first row. The scores are
// linear in it.
func overtakes(costs [][]float64, weights []float64, c int, up bool) (row int, at float64, ok bool) {
	for j := 1; j < len(costs); j++ {
		ahead := 0.0
		for k, w := range weights {
			ahead += w * (costs[j][k] - costs[0][k])
		}
		gain := costs[j][c] - costs[0][c]
		if gain == 0 || (gain < 0) != up {
			continue
		}
		w := weights[c] - ahead/gain
		// Where the weight goes away without a change there is none.
		if w < 1e-9*weights[c] || ok && (w < at) != up {
			continue
		}
		row, at, ok = j, w, true
	}
	return row, at, ok
}

// firsts counts the first places of each row over random weights.
func firsts(costs [][]float64, weights []float64, draws int) []int {
	rng := rand.New(rand.NewPCG(seed, 0))
	out, w := make([]int, len(costs)), make([]float64, len(weights))
	for range draws {
		for c := range w {
			w[c] = weights[c] * math.Exp(spread*rng.NormFloat64())
		}
		out[first(costs, w)]++
	}
	return out
}

// first is the row with the least weighted sum.
func first(costs [][]float64, weights []float64) int {
	best, least := 0, math.Inf(1)
	for i, row := range costs {
		sum := 0.0
		for c, w := range weights {
			sum += w * row[c]
		}
		if sum < least {
			best, least = i, sum
		}
	}
	return best
}
