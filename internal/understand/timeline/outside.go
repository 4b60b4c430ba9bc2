package timeline

import (
	"errors"

	"plimsoll/internal/record"
)

// Outside is where the time between two events went as far as it is seen from outside, of starts that
// were not followed: the steps between the events that were timed, none of them with
// a cause. Lacks says why no more is known.
func Outside(what string, from, until record.Event, starts []map[record.Event]int64, lacks string) (*Explanation, error) {
	if len(starts) == 0 {
		return nil, errors.New("nothing was timed")
	}
	x := &Explanation{What: what, Until: string(until), Starts: len(starts), Lacks: lacks}
	trees := make([]*Step, len(starts))
	spans := make([]float64, len(starts))
	for i, events := range starts {
		begun, to := events[from], events[until]
		root := &Step{Name: what, NS: to - begun}
		last, at := from, begun
		for _, e := range outsideOrder {
			next, ok := events[e]
			if !ok || next < at || next > to || e == until {
				continue
			}
			root.Steps = append(root.Steps, between(last, e, next-at, at-begun))
			last, at = e, next
		}
		root.Steps = append(root.Steps, between(last, until, to-at, at-begun))
		trees[i], spans[i] = root, float64(root.NS)
	}
	x.NS, x.Interval = median(spans)
	x.Tree, x.Used = mean(trees)
	x.UnexplainedNS = x.Tree.unexplainedNS()
	return x, nil
}

// outsideOrder are the events of a start in their order.
var outsideOrder = []record.Event{record.Sandbox, record.Created, record.Start, record.Init, record.Exec, record.First, record.Ready, record.Exit}

func between(a, b record.Event, ns, at int64) *Step {
	return &Step{Name: "from " + string(a) + " to " + string(b), NS: ns, First: at, Cause: true, Unexplained: true}
}
