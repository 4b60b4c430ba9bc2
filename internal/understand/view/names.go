package view

import (
	"plimsoll/internal/record"
	"plimsoll/internal/understand/words"
)

// At is the i-th entry of a column, or nothing where there is none.
func At[T any](column []T, i int) T {
	if i >= 0 && i < len(column) {
		return column[i]
	}
	var none T
	return none
}

// Known are the values of a column that there are.
func Known(column []*float64) (out []float64) {
	for _, v := range column {
		if v != nil {
			out = append(out, *v)
		}
	}
	return out
}

// Label is the environment's name as it is shown, cleaned.
func (e Env) Label() string { return cleaned(e.Name, e.ID) }

// EnvLabel is the label of the e-th of Envs.
func (d *Data) EnvLabel(e int) string { return At(d.Envs, e).Label() }

// Label is the workload's title, or its id, as it is shown, cleaned.
func (w *Work) Label() string { return cleaned(w.Title, w.ID) }

// MetricLabel is a metric's title, or its id, as it is shown, cleaned.
func MetricLabel(m record.Metric) string { return cleaned(m.Title, m.ID) }

func cleaned(name, id string) string {
	if s := words.Clean(name); s != "" {
		return s
	}
	return words.Clean(id)
}
