package analyze

import (
	"cmp"
	"slices"

	"plimsoll/internal/record"
)

// order is that of the events of a life cycle.
var order = []record.Event{
	record.Request, record.Sandbox, record.Created, record.Start, record.Init, record.Exec, record.First, record.Ready, record.Done, record.Stop, record.Stopped, record.Exit, record.Removed,
}

// span is where a metric begins and ends in that order, ok only for durations.
func span(m record.Metric) (from, to int, ok bool) {
	from, to = slices.Index(order, m.From), slices.Index(order, m.To)
	return from, to, m.From != "" && from >= 0 && to > from
}

// Duration says whether a metric is the time between two events of a life cycle.
func Duration(m record.Metric) bool {
	_, _, ok := span(m)
	return ok
}

// Within says that a is a part of b, and not all of it.
func Within(a, b record.Metric) bool {
	af, at, ok := span(a)
	bf, bt, also := span(b)
	return ok && also && af >= bf && at <= bt && (af > bf || at < bt)
}

// Steps are the smallest parts that do not overlap, in the order of time: one that
// holds another one is said by that.
func Steps[T any](parts []T, metric func(T) record.Metric) (steps []T) {
	parts = slices.DeleteFunc(slices.Clone(parts), func(p T) bool {
		return slices.ContainsFunc(parts, func(q T) bool { return Within(metric(q), metric(p)) })
	})
	slices.SortStableFunc(parts, func(a, b T) int {
		x, _, _ := span(metric(a))
		y, _, _ := span(metric(b))
		return cmp.Compare(x, y)
	})
	end := 0
	for _, p := range parts {
		from, to, _ := span(metric(p))
		if from < end {
			continue
		}
		end = to
		steps = append(steps, p)
	}
	return steps
}
