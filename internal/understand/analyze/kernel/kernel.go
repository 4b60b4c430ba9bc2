// Package kernel puts together what the kernel of a machine charges for the
// mechanisms that containers are made of: alone, and with several at once.
package kernel

import (
	"math"
	"slices"
	"strconv"

	"plimsoll/internal/common/stats"
	"plimsoll/internal/understand/analyze/sample"
)

// Workload is the workload that measures one mechanism, and its parameters and
// metrics.
const (
	Workload  = "mechanisms"
	Mechanism = "how"
	Together  = "threads"
	Make      = "mechanism-make"
	End       = "mechanism-end"
	Rate      = "mechanism-rate"
)

// process is the mechanism that all others need.
const process = "process"

// Charges are what the mechanisms cost in one environment.
type Charges struct {
	Env string `json:"env"`
	// Together are the numbers of processes that begin at once, ascending.
	Together []int `json:"together"`
	Rows     []Row `json:"rows"`
}

// Row is a mechanism.
type Row struct {
	Mechanism string `json:"mechanism"`
	// Cells are of the same order as Together.
	Cells []Cell `json:"cells"`
	// Gain is how many times as many a second the most at once are than one
	// alone: at most the number of processors, and 1 where one waits for the other.
	Gain *sample.Estimate `json:"gain,omitempty"`
}

// Cell is a mechanism with so many at once. Make and End are in ns, Rate is what is
// made and ended in a second, by all together.
type Cell struct {
	Make    *sample.Estimate `json:"make,omitempty"`
	End     *sample.Estimate `json:"end,omitempty"`
	Rate    *sample.Estimate `json:"rate,omitempty"`
	Missing string           `json:"missing,omitempty"`

	rates []float64 // by block
}

// Choice is one workload of a run: its parameters.
type Choice struct {
	Params map[string]string
	// Value gives a metric's values by block and its median, or why there is none.
	Value func(metric string) (byBlock []float64, median *sample.Estimate, missing string)
}

// Of puts the choices together. It is nil where fewer than two mechanisms are among
// them.
func Of(env string, choices []Choice) *Charges {
	c := &Charges{Env: env}
	var names []string
	for _, x := range choices {
		if n, err := strconv.Atoi(x.Params[Together]); err == nil && !slices.Contains(c.Together, n) {
			c.Together = append(c.Together, n)
		}
		if how := x.Params[Mechanism]; !slices.Contains(names, how) {
			names = append(names, how)
		}
	}
	if len(names) < 2 || len(c.Together) == 0 {
		return nil
	}
	slices.Sort(c.Together)
	measured := false
	for _, name := range names {
		row := Row{Mechanism: name, Cells: make([]Cell, len(c.Together))}
		for i := range row.Cells {
			row.Cells[i].Missing = "it was not asked for"
		}
		for _, x := range choices {
			n, err := strconv.Atoi(x.Params[Together])
			if err == nil && x.Params[Mechanism] == name {
				cell := cellOf(x)
				measured = measured || cell.Missing == ""
				row.Cells[slices.Index(c.Together, n)] = cell
			}
		}
		row.Gain = gain(row.Cells)
		c.Rows = append(c.Rows, row)
	}
	if !measured {
		return nil
	}
	return c
}

func cellOf(x Choice) Cell {
	var c Cell
	for _, m := range []struct {
		id string
		to **sample.Estimate
	}{{Make, &c.Make}, {End, &c.End}, {Rate, &c.Rate}} {
		values, median, missing := x.Value(m.id)
		if median == nil {
			return Cell{Missing: missing}
		}
		*m.to = median
		if m.id == Rate {
			c.rates = values
		}
	}
	return c
}

// gain is the ratio of the rates inside the blocks, of the most at once to the
// fewest.
func gain(cells []Cell) *sample.Estimate {
	first, last := cells[0], cells[len(cells)-1]
	if len(cells) < 2 || first.Rate == nil || last.Rate == nil {
		return nil
	}
	var logs []float64
	for i := range min(len(first.rates), len(last.rates)) {
		if a, b := first.rates[i], last.rates[i]; a > 0 && b > 0 {
			logs = append(logs, math.Log(b/a))
		}
	}
	if len(logs) == 0 {
		return nil
	}
	v, interval, ok := stats.PseudoMedian(logs, stats.Level)
	if !ok {
		v, interval, ok = stats.TInterval(logs, stats.Level)
		ok = ok && len(logs) >= sample.MinT
	}
	return sample.NewEstimate(math.Exp(v), stats.Interval{Lo: math.Exp(interval.Lo), Hi: math.Exp(interval.Hi)}, ok)
}

// Dearest are the mechanisms that cost the most alone, made and undone, without the
// process that each needs: at most n, the most first.
func (c *Charges) Dearest(n int) []Row {
	rows := slices.DeleteFunc(slices.Clone(c.Rows), func(r Row) bool { return r.Mechanism == process || r.Cells[0].Missing != "" })
	slices.SortStableFunc(rows, func(a, b Row) int {
		if a.Alone() > b.Alone() {
			return -1
		}
		return 1
	})
	return rows[:min(n, len(rows))]
}

// Alone is what the mechanism costs alone, made and undone, in ns.
func (r Row) Alone() float64 {
	if r.Cells[0].Missing != "" {
		return math.NaN()
	}
	return r.Cells[0].Make.Value + r.Cells[0].End.Value
}

// Waiting are the mechanisms of which more at once are made hardly faster than one
// after the other, though processes are: the upper end of their gain is below half of
// the lower end of the processes'.
func (c *Charges) Waiting() (rows []Row) {
	i := slices.IndexFunc(c.Rows, func(r Row) bool { return r.Mechanism == process })
	if i < 0 || c.Rows[i].Gain == nil || c.Rows[i].Gain.Lo == nil {
		return nil
	}
	for _, r := range c.Rows {
		if r.Gain != nil && r.Gain.Hi != nil && *r.Gain.Hi < *c.Rows[i].Gain.Lo/2 {
			rows = append(rows, r)
		}
	}
	return rows
}
