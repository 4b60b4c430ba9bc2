package analyze

import "slices"

// ByBlock gives the cell's medians by block, NaN where a block has none: of
// one run the same places are the same blocks in every cell. It is empty where
// there is no value, and in a result that was read from JSON.
func (c *Cell) ByBlock() []float64 { return slices.Clone(c.byBlock) }
