package calibrate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"plimsoll/internal/understand/analyze/evaluate"
	"plimsoll/internal/understand/analyze/hosts"
)

// machines is by how much machines differ in speed, as a standard deviation on the
// logarithm.
const machines = 0.5

// apart is what the environment "c" takes longer on every second host.
const apart = 0.15

// Hosts is what a report on several hosts says of environments whose truth is known:
// "a" costs the same beside native on all hosts or scatters between them as Spread
// says, "b" is as "a" but for the scatter, and "c" takes 15 % longer on every second
// host.
type Hosts struct {
	Shape  string  `json:"shape"`
	Hosts  int     `json:"hosts"`
	Blocks int     `json:"blocks"`
	Spread float64 `json:"spread"`
	// Pooled is the interval of a's ratio for machines in general, Next that of one
	// more host, Between that of the spread.
	Pooled  Tally `json:"pooled"`
	Next    Tally `json:"next"`
	Between Tally `json:"between"`
	// Alarm counts tables in which a host and environment that have nothing to do with
	// each other are said to: "b", and "a" where it does not scatter. Found counts
	// those in which that is found of "c".
	Alarm Tally `json:"alarm"`
	Found Tally `json:"found"`
}

func (h *Hosts) tallies() []*Tally {
	return []*Tally{&h.Pooled, &h.Next, &h.Between, &h.Alarm, &h.Found}
}

func (h *Hosts) sample(s *Shape, reps int, r *rand.Rand) error {
	ratio := effects[0] + s.shift(1, 1)
	for range reps {
		g := hosts.NewGathering(hosts.Options{})
		for i := range h.Hosts {
			w := newWorld(s, h.Blocks, 1, 1,
				env{id: "native", baseline: true, effects: []float64{0}},
				env{id: "a", effects: []float64{effects[0] + h.Spread*r.NormFloat64()}},
				env{id: "b", effects: []float64{effects[0]}},
				env{id: "c", effects: []float64{effects[0] + apart*float64(i%2)}})
			run, _ := w.simulate(r, machines*r.NormFloat64())
			res, err := evaluate.Run(run, evaluate.Options{})
			if err != nil {
				return err
			}
			res.Run.ID, res.Run.Host.Name = fmt.Sprint("run", i), fmt.Sprint("host", i)
			if err := g.Add(res, res.Run.ID); err != nil {
				return err
			}
		}
		all, err := g.Hosts()
		if err != nil {
			return err
		}
		var pooled *hosts.Pooled
		alarm, found := false, false
		for _, row := range all.Tables[0].Rows {
			differs := row.Differ != nil && row.Differ.Found
			switch row.Env {
			case "a":
				pooled = row.Pooled
				alarm = alarm || differs && h.Spread == 0
			case "b":
				alarm = alarm || differs
			case "c":
				found = differs
			}
		}
		h.Alarm.add(alarm)
		h.Found.add(found)
		if pooled == nil {
			h.Pooled.interval(nil, 1)
			continue
		}
		h.Pooled.interval(&pooled.Ratio, math.Exp(ratio))
		if pooled.Next != nil {
			h.Next.interval(pooled.Next, math.Exp(ratio+h.Spread*r.NormFloat64()))
		}
		between := math.Expm1(h.Spread)
		if lo, hi := pooled.Spread.Lo, pooled.Spread.Hi; lo != nil {
			h.Between.add(*lo <= between && between <= *hi)
		}
	}
	return nil
}

// judgeHosts lists what is not as demanded of hosts.
func (r *Report) judgeHosts(miss func(ok bool, t Tally, format string, args ...any)) {
	for _, h := range r.Hosts {
		where := fmt.Sprintf("%s, %d hosts of %d blocks with a spread of %.0f %%", h.Shape, h.Hosts, h.Blocks, 100*h.Spread)
		spread := leastNext
		if strings.HasPrefix(h.Shape, "two humps") || h.Shape == "unlike" {
			spread = leastSpreadHumps
		}
		miss(h.Pooled.AtLeast(leastHosts), h.Pooled, "%s: the pooled interval covers too little", where)
		miss(h.Next.N == 0 || h.Next.AtLeast(leastNext), h.Next, "%s: the interval of one more host covers too little", where)
		miss(h.Between.N == 0 || h.Between.AtLeast(spread), h.Between, "%s: the interval of the spread covers too little", where)
		miss(h.Alarm.AtMost(mostAlarms), h.Alarm, "%s: hosts that are alike are said to differ", where)
	}
}
