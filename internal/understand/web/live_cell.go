package web

import (
	"math"
	"slices"
	"time"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze/evaluate"
	"plimsoll/internal/understand/analyze/sample"
)

// liveCell is what is known of one cell.
type liveCell struct {
	key           cellKey
	metrics       []record.Metric
	planned, done int
	failed        int
	spent         time.Duration
	times         int

	values [][][]float64 // by metric, block
	blocks map[int]int   // place of each block
	n      []int         // of values, by metric
	mark   int           // from how many values the next mark is set
	course []Mark
	of     int // the metric that course is of
	median *sample.Estimate
	dirty  bool
}

func (c *liveCell) took(d time.Duration) {
	c.spent += d
	c.times++
}

func (c *liveCell) add(t *record.Trial) {
	if c.blocks == nil {
		c.blocks, c.n = map[int]int{}, make([]int, len(c.metrics))
	}
	b, ok := c.blocks[t.Block]
	if !ok {
		b = len(c.blocks)
		c.blocks[t.Block] = b
		for m := range c.values {
			c.values[m] = append(c.values[m], nil)
		}
	}
	for m := range c.metrics {
		if v, ok := c.metrics[m].Value(t); ok {
			c.values[m][b] = append(c.values[m][b], v)
			c.n[m]++
		}
	}
	if m := c.shown(); m >= 0 && (m != c.of || c.n[m] >= c.mark) {
		c.settle()
	}
}

// shown is the first metric with a value, -1 for none.
func (c *liveCell) shown() int {
	return slices.IndexFunc(c.n, func(n int) bool { return n > 0 })
}

// markEvery is by how much the number of values grows from one mark to the
// next: what a long course costs is then a few times its last median.
const markEvery = 1.25

// settle makes the median of all values that there are.
func (c *liveCell) settle() {
	m := c.shown()
	if m < 0 {
		return
	}
	if m != c.of {
		c.of, c.course, c.mark = m, nil, 0
	}
	c.median = evaluate.Median(c.values[m])
	if n := c.n[m]; n >= c.mark {
		c.course = append(c.course, Mark{N: n, Median: c.median})
		c.mark = max(n+1, int(math.Ceil(float64(n)*markEvery)))
	}
}

func (c *liveCell) show() LiveCell {
	out := LiveCell{Env: c.key.env, Workload: c.key.work, Done: c.done, Planned: c.planned, Failed: c.failed, Median: c.median}
	m := c.shown()
	if m >= 0 {
		out.N = c.n[m]
	}
	if m = max(m, 0); m < len(c.metrics) {
		out.Metric = c.metrics[m]
	}
	return out
}
