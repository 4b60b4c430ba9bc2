package analyze

import "iter"

// Grouped are values by a key, the keys in the order in which they came.
type Grouped[K comparable, V any] struct {
	keys []K
	of   map[K][]V
}

// Add adds values to those of a key, which is there from then on, with none too.
func (g *Grouped[K, V]) Add(k K, values ...V) {
	if g.of == nil {
		g.of = map[K][]V{}
	}
	if _, ok := g.of[k]; !ok {
		g.keys = append(g.keys, k)
	}
	g.of[k] = append(g.of[k], values...)
}

// Of are the values of a key.
func (g *Grouped[K, V]) Of(k K) []V { return g.of[k] }

// Len is how many keys there are.
func (g *Grouped[K, V]) Len() int { return len(g.keys) }

// All are the keys, each with its values.
func (g *Grouped[K, V]) All() iter.Seq2[K, []V] {
	return func(yield func(K, []V) bool) {
		for _, k := range g.keys {
			if !yield(k, g.of[k]) {
				return
			}
		}
	}
}
