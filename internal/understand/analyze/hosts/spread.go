package hosts

import (
	"math"

	"plimsoll/internal/common/stats"
)

// Spread compares the spread of a metric between hosts with that between
// environments, as standard deviations of the logarithm, given as a factor less one:
// 0.05 for 5 %. It is of the environments that all hosts have, without baselines, and
// estimated from mean squares, hosts and environments crossed; a component that
// comes out below 0 is 0. (Searle, Casella & McCulloch, Variance Components, 1992, 4.)
type Spread struct {
	Environments int `json:"environments"`
	Hosts        int `json:"hosts"`
	// Between environments; between hosts, how fast machines are; the two together,
	// what one environment is faster on one machine than on others beyond both; and
	// between the blocks of one host.
	Environment float64 `json:"environment"`
	Host        float64 `json:"host"`
	Both        float64 `json:"both"`
	Block       float64 `json:"block"`
}

// spread is nil where fewer than two hosts have two environments in common.
func (g *Gathering) spread(t *gatheredTable) *Spread {
	var centers [][]float64 // by environment and host
	var within, errs, n float64
	for _, env := range t.envs {
		if g.baseline(env) != "" {
			continue
		}
		var row []float64
		var w, e float64
		for i := range g.hosts {
			c := t.cells[cellAt{env, i}]
			if c == nil {
				break
			}
			logs, ok := logsOf(c.medians)
			if !ok {
				break
			}
			mean, se, _ := stats.TMoments(logs)
			row = append(row, mean)
			w, e = w+se*se*float64(len(logs)), e+se*se
		}
		if len(row) == len(g.hosts) {
			centers, within, errs, n = append(centers, row), within+w, errs+e, n+float64(len(row))
		}
	}
	if len(centers) < 2 || len(g.hosts) < 2 {
		return nil
	}
	s := &Spread{Environments: len(centers), Hosts: len(g.hosts), Block: math.Expm1(math.Sqrt(within / n))}
	env, host, both := meanSquares(centers)
	s.Environment = asFactor((env - both) / float64(len(g.hosts)))
	s.Host = asFactor((host - both) / float64(len(centers)))
	s.Both = asFactor(both - errs/n)
	return s
}

func asFactor(variance float64) float64 { return math.Expm1(math.Sqrt(max(0, variance))) }

// logsOf are the logarithms of at least two values; false where there are none.
func logsOf(medians []float64) ([]float64, bool) {
	values := stats.Known(medians)
	for i, v := range values {
		if v <= 0 {
			return nil, false
		}
		values[i] = math.Log(v)
	}
	return values, len(values) >= 2
}

// meanSquares are those of the rows, the columns and the rest of a table that has one
// value a cell.
func meanSquares(x [][]float64) (rows, columns, rest float64) {
	a, b := float64(len(x)), float64(len(x[0]))
	row, column, all := make([]float64, len(x)), make([]float64, len(x[0])), 0.0
	for i := range x {
		for j, v := range x[i] {
			row[i] += v / b
			column[j] += v / a
			all += v / (a * b)
		}
	}
	for i := range x {
		rows += b * (row[i] - all) * (row[i] - all) / (a - 1)
		for j, v := range x[i] {
			d := v - row[i] - column[j] + all
			rest += d * d / ((a - 1) * (b - 1))
		}
	}
	for j := range column {
		columns += a * (column[j] - all) * (column[j] - all) / (b - 1)
	}
	return rows, columns, rest
}
