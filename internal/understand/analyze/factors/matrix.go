package factors

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
)

// matrix is one metric over environments and choices of parameters.
type matrix struct {
	cells  []matrixCell
	blocks []int // those in which every cell has a value
	left   []LeftOut
}

type matrixCell struct {
	env  record.Environment
	work matrixWork
	logs []float64 // by block, NaN where there is no value
}

// matrixWork is what is kept of a workload: the whole of it has all values of its run,
// and runs of a hundred hosts are read one by one so that one alone is held.
type matrixWork struct {
	ID     string
	Params map[string]string
}

// newMatrix collects the cells; baselines are no part of it.
func newMatrix(r *analyze.Result, works []*analyze.Workload, metric string, engines []string) (*matrix, error) {
	m := &matrix{}
	var known []string
	for _, e := range r.Environments {
		if e.Baseline != "" {
			continue
		}
		known = append(known, e.Engine)
		if len(engines) > 0 && !slices.Contains(engines, e.Engine) {
			continue
		}
		for _, w := range works {
			c := matrixCell{env: e, work: matrixWork{ID: w.ID, Params: w.Params}}
			reason := "the workload has no such metric"
			if t := w.Table(metric); t != nil {
				if cell := t.Cell(e.ID); cell != nil && cell.Median != nil {
					c.logs, reason = logsByBlock(cell.ByBlock)
				} else if cell != nil {
					reason = cell.Missing
				}
			}
			if reason != "" {
				m.left = append(m.left, LeftOut{Env: e.ID, Workload: w.ID, Reason: reason})
				continue
			}
			m.cells = append(m.cells, c)
		}
	}
	for _, e := range engines {
		if !slices.Contains(known, e) {
			if len(known) == 0 {
				return nil, fmt.Errorf("no engine %q in run %s: it has baselines alone, which have no factors", e, r.Run.ID)
			}
			return nil, fmt.Errorf("no engine %q in run %s: it has %s", e, r.Run.ID, strings.Join(analyze.Distinct(known), ", "))
		}
	}
	return m, nil
}

// logsByBlock gives the logarithms, or says why there are none.
func logsByBlock(medians []float64) (out []float64, reason string) {
	for _, v := range medians {
		if v <= 0 {
			return nil, "a value is 0 or negative: it has no logarithm"
		}
		out = append(out, math.Log(v)) // NaN stays NaN
	}
	return out, ""
}

// complete finds the blocks that every cell has. While these are fewer than
// half, the cell that lacks most goes.
func (m *matrix) complete() {
	for len(m.cells) > 0 {
		n := 0
		for _, c := range m.cells {
			n = max(n, len(c.logs))
		}
		m.blocks = m.blocks[:0]
		lacks := make([]int, len(m.cells))
		for b := range n {
			whole := true
			for i, c := range m.cells {
				if b >= len(c.logs) || math.IsNaN(c.logs[b]) {
					lacks[i]++
					whole = false
				}
			}
			if whole {
				m.blocks = append(m.blocks, b)
			}
		}
		if 2*len(m.blocks) >= n {
			return
		}
		worst := 0
		for i := range lacks {
			if lacks[i] > lacks[worst] {
				worst = i
			}
		}
		c := m.cells[worst]
		m.left = append(m.left, LeftOut{Env: c.env.ID, Workload: c.work.ID, Reason: fmt.Sprintf("it has no value in %d of %d blocks", lacks[worst], n)})
		m.cells = slices.Delete(m.cells, worst, worst+1)
	}
}

// values are the logarithms by block and cell.
func (m *matrix) values() [][]float64 {
	out := make([][]float64, len(m.blocks))
	for i, b := range m.blocks {
		for _, c := range m.cells {
			out[i] = append(out[i], c.logs[b])
		}
	}
	return out
}

// factors finds what varies over the cells, and the number of each cell's
// level. Of the environments these are the engine and whatever was asked for
// of any of them.
func (m *matrix) factors() (vary []Factor, fixed map[string]string, levels [][]int) {
	vary, fixed = []Factor{}, map[string]string{}
	add := func(id, kind string, of func(matrixCell) string) {
		f := Factor{ID: id, Kind: kind}
		var level []int
		for _, c := range m.cells {
			v := cmp.Or(of(c), unset)
			k := slices.Index(f.Levels, v)
			if k < 0 {
				k = len(f.Levels)
				f.Levels = append(f.Levels, v)
			}
			level = append(level, k)
		}
		switch len(f.Levels) {
		case 0:
		case 1:
			fixed[id] = f.Levels[0]
		default:
			vary, levels = append(vary, f), append(levels, level)
		}
	}
	var asked, params []map[string]string
	for _, c := range m.cells {
		asked, params = append(asked, c.env.Levels), append(params, c.work.Params)
	}
	add("engine", OfEnvironment, func(c matrixCell) string { return c.env.Engine })
	names := analyze.SortedKeys(asked...)
	for _, id := range names {
		if id == "engine" {
			continue
		}
		add(id, OfEnvironment, func(c matrixCell) string { return level(c.env, id) })
	}
	for _, id := range analyze.SortedKeys(params...) {
		name := id
		if id == "engine" || slices.Contains(names, id) {
			name += " (parameter)"
		}
		add(name, OfWorkload, func(c matrixCell) string { return c.work.Params[id] })
	}
	return vary, fixed, levels
}

// unset is the level of a factor that an environment was not asked for and
// says nothing of.
const unset = "(not set)"
