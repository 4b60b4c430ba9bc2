package evaluate

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/derive"
	"plimsoll/internal/understand/analyze/sample"
)

// store holds the trials by columns: a number for each trial and metric, and
// the trial's block. A million trials of ten metrics are less than 100 MB.
type store struct {
	run     *record.Run
	envs    map[string]int
	works   map[string]int
	cells   [][]*cellData // by workload, environment
	metrics [][]record.Metric
	blocks  map[int]int32 // dense numbers of the counted blocks
	order   []int32       // see blockOrder
	trials  int
	warmup  int
	// stolen counts the trials that lost more than 1 % of their time to the
	// hypervisor; stolenNS and lastedNS are of all of them together.
	stolen             int
	stolenNS, lastedNS float64
	calm               int64 // ns that all trials waited before they began
	// views counts, by environment, the trials by what was seen from inside.
	views     []map[string]int
	keep      bool // all values are kept, see Options.Values
	levels    []float64
	programs  programs // the programs that were measured, by workload
	protocols protocols
	asked     map[[2]string]bool // environment and workload; nil: all
	// uncounted takes trials of warm-up blocks like all others.
	uncounted bool
}

// cellData is one environment with one workload.
type cellData struct {
	warmup, trials, failed int
	classes                []sample.Failure
	block                  []int32
	around                 []around    // of each counted trial, as block
	columns                [][]float64 // by metric; NaN is missing; nil: no value at all
	foreign                int         // trials with a foreign clock
	throttled              int         // trials that the CPU limit held back
	negative               map[string]int
	remarks                []textCount
}

type textCount struct {
	text string
	n    int
}

func loadStore(r *record.Reader, uncounted bool) (*store, error) {
	s := &store{uncounted: uncounted, run: r.Run(), envs: map[string]int{}, works: map[string]int{}, blocks: map[int]int32{}}
	s.asked = s.askedBy()
	for i, e := range s.run.Environments {
		s.envs[e.ID] = i
		s.views = append(s.views, map[string]int{})
	}
	for i, w := range s.run.Workloads {
		s.works[w.ID] = i
		s.metrics = append(s.metrics, w.AllMetrics())
		row := make([]*cellData, len(s.run.Environments))
		for k := range row {
			row[k] = &cellData{columns: make([][]float64, len(s.metrics[i]))}
		}
		s.cells = append(s.cells, row)
	}
	s.programs = make(programs, len(s.cells))
	for t, err := range r.Trials() {
		if err != nil {
			return nil, err
		}
		from := derive.Add(r, t)
		if err := s.add(t); err != nil {
			return nil, err
		}
		s.keepSeries(t, from)
	}
	s.order = s.blockOrder()
	return s, nil
}

func (s *store) add(t *record.Trial) error {
	e, ok := s.envs[t.Env]
	if !ok {
		return fmt.Errorf("trial %d is of environment %q, which %s does not name: the two files are not of one run", t.Seq, t.Env, record.RunFile)
	}
	w, ok := s.works[t.Workload]
	if !ok {
		return fmt.Errorf("trial %d is of workload %q, which %s does not name: the two files are not of one run", t.Seq, t.Workload, record.RunFile)
	}
	c := s.cells[w][e]
	s.trials++
	s.calm += t.Quiet
	for _, text := range t.Remarks {
		c.remark(text)
	}
	if t.Warmup && !s.uncounted {
		s.warmup++
		c.warmup++
		return nil
	}
	c.trials++
	if !t.OK() {
		c.fail(t.Failure)
		return nil
	}
	block, ok := s.blocks[t.Block]
	if !ok {
		block = int32(len(s.blocks))
		s.blocks[t.Block] = block
	}
	if t.Clock == record.ClockForeign {
		c.foreign++
	}
	s.disturbance(c, t)
	if t.Inside != "" {
		s.views[e][t.Inside]++
	}
	s.programs.add(w, e, t.Binary)
	n := len(c.block)
	c.block, c.around = append(c.block, block), append(c.around, aroundOf(t))
	for m := range s.metrics[w] {
		v, ok := s.metrics[w][m].Value(t)
		if ok && v < 0 && s.metrics[w][m].From != "" {
			if c.negative == nil {
				c.negative = map[string]int{}
			}
			c.negative[s.metrics[w][m].ID]++
		}
		switch {
		case ok:
			for len(c.columns[m]) < n {
				c.columns[m] = append(c.columns[m], math.NaN())
			}
			c.columns[m] = append(c.columns[m], v)
		case c.columns[m] != nil:
			c.columns[m] = append(c.columns[m], math.NaN())
		}
	}
	return nil
}

// spent says where the run's time went.
func (s *store) spent() *analyze.Spent {
	if o := s.run.Own; o != nil && o.Wall > 0 {
		return &analyze.Spent{Wall: o.Wall, Trials: o.Timed, Calm: s.calm}
	}
	return nil
}

// throttleMetric is the metric by which sampling tells that the payload's CPU
// limit held it back, ns.
const throttleMetric = "payload-throttled"

// disturbance counts what held a trial up from outside. The kernel counts
// stolen time in ticks of 10 ms, as long as many a trial: one trial's share is
// coarse, that of all together is not.
func (s *store) disturbance(c *cellData, t *record.Trial) {
	var host record.Disturbance
	if t.Host != nil {
		host = *t.Host
	}
	if n := host.ThrottledNS; n != nil && *n > 0 || t.Values[throttleMetric] > 0 {
		c.throttled++
	}
	end := cmp.Or(t.Events[record.Exit], t.Events[record.Removed], t.Events[record.Ready])
	lasted := float64(end - t.Events[record.Request])
	if lasted <= 0 {
		return
	}
	steal := float64(host.StealNS)
	s.stolenNS += steal
	s.lastedNS += lasted
	if steal > 0.01*lasted {
		s.stolen++
	}
}

func (c *cellData) fail(f *record.Failure) {
	c.failed++
	for i := range c.classes {
		if c.classes[i].Class == f.Class {
			c.classes[i].N++
			return
		}
	}
	c.classes = append(c.classes, sample.Failure{Class: f.Class, N: 1, Text: f.Text})
}

func (c *cellData) remark(text string) {
	for i := range c.remarks {
		if c.remarks[i].text == text {
			c.remarks[i].n++
			return
		}
	}
	if len(c.remarks) < 20 { // texts with numbers in them must not fill the memory
		c.remarks = append(c.remarks, textCount{text, 1})
	}
}

// column gives the values of a metric that are there by block, and the median
// of each block (NaN where it has none), blocks in the order of their numbers.
func (s *store) column(w, e, m int) (blocks [][]float64, medians []float64) {
	c := s.cells[w][e]
	col := c.columns[m]
	if col == nil {
		return nil, nil
	}
	order := s.order
	count := make([]int, len(order)+1)
	for i, v := range col {
		if !math.IsNaN(v) {
			count[order[c.block[i]]+1]++
		}
	}
	for b := range order {
		count[b+1] += count[b]
	}
	byBlock := make([]float64, count[len(order)])
	next := slices.Clone(count)
	for i, v := range col {
		if !math.IsNaN(v) {
			b := order[c.block[i]]
			byBlock[next[b]] = v
			next[b]++
		}
	}
	medians, blocks = make([]float64, len(order)), make([][]float64, len(order))
	for b := range order {
		blocks[b] = byBlock[count[b]:count[b+1]]
		medians[b] = median(blocks[b])
	}
	return blocks, medians
}

// blockOrder maps dense block numbers, given in the order of appearance, to
// places in the order of the blocks' own numbers.
func (s *store) blockOrder() []int32 {
	numbers := make([]int, 0, len(s.blocks))
	for b := range s.blocks {
		numbers = append(numbers, b)
	}
	slices.Sort(numbers)
	order := make([]int32, len(numbers))
	for place, b := range numbers {
		order[s.blocks[b]] = int32(place)
	}
	return order
}

// median sorts x in place; NaN for none.
func median(x []float64) float64 {
	if len(x) == 0 {
		return math.NaN()
	}
	slices.Sort(x)
	n := len(x)
	if n%2 == 1 {
		return x[n/2]
	}
	return (x[n/2-1] + x[n/2]) / 2
}

// askedBy says which workloads the parts of the study run in which environment;
// nil where the study has no parts, and everything is asked for.
func (s *store) askedBy() map[[2]string]bool {
	if len(s.run.Study.Parts) == 0 {
		return nil
	}
	out := map[[2]string]bool{}
	for _, p := range s.run.Study.Parts {
		for _, e := range p.Environments {
			for _, w := range p.Workloads {
				out[[2]string{e, w}] = true
			}
		}
	}
	return out
}
