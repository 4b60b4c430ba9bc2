package run

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"time"

	"plimsoll/internal/measure/agent"
	"plimsoll/internal/measure/storage"
	"plimsoll/internal/record"
)

// Agent is one that is asked around each trial.
type Agent struct {
	record.Agent
	Counter agent.Counter
}

// agentLimit is how long an agent may take over a window's begin or end; tests
// make it shorter.
var agentLimit = 15 * time.Second

// lostLimit is how long one has to show that it is back that did not answer the
// last time.
const lostLimit = time.Second

// agents asks all agents to begin and end a trial's window, outside the measured
// time. One that is lost costs the trial a remark and nothing else.
type agents struct {
	list     []*asked
	run, job string
	limit    time.Duration
	// settle has what was written here sent to the servers before a window ends.
	settle func(context.Context) error
	// remarks are those of the window under way that are no agent's own.
	remarks []string
	begun   bool
}

// asked is an agent and its window under way.
type asked struct {
	Agent
	window string
	result *agent.Window
	err    error
	lost   bool
}

// callAgents gets the agents ready, and announces what they count.
func (r *runner) callAgents() {
	if len(r.Agents) == 0 {
		return
	}
	here := storage.Here()
	r.agents = &agents{run: r.rec.ID, job: r.AgentJob, limit: agentLimit,
		settle: func(ctx context.Context) error { return storage.Settle(ctx, here, agentLimit) }}
	for _, a := range r.Agents {
		r.agents.list = append(r.agents.list, &asked{Agent: a})
		r.rec.Agents = met(r.rec.Agents, a.Agent)
	}
	metrics := storage.SumMetrics()
	for _, a := range r.Agents {
		metrics = append(metrics, storage.Metrics(a.Name+"-", a.Name+", ", record.Detail)...)
	}
	for i := range r.rec.Workloads {
		r.rec.Workloads[i].Metrics = withMetrics(r.rec.Workloads[i].Metrics, metrics)
	}
}

// met adds an agent to those that are known, or what is new of it.
func met(known []record.Agent, a record.Agent) []record.Agent {
	for i := range known {
		if known[i].Name == a.Name {
			a.Clocks = append(known[i].Clocks, a.Clocks...)
			known[i] = a
			return known
		}
	}
	return append(known, a)
}

// all does something with each agent, at the same time for all.
func (a *agents) all(do func(ctx context.Context, x *asked)) {
	var wg sync.WaitGroup
	for _, x := range a.list {
		wg.Go(func() {
			limit := a.limit
			if x.lost {
				limit = min(limit, lostLimit)
			}
			ctx, cancel := context.WithTimeout(context.Background(), limit)
			defer cancel()
			do(ctx, x)
		})
	}
	wg.Wait()
}

// begin opens the windows of a trial.
func (a *agents) begin(seq int) {
	if a == nil {
		return
	}
	a.remarks, a.begun = nil, true
	a.all(func(ctx context.Context, x *asked) {
		x.window, x.result = "", nil
		var w *agent.BeginAnswer
		if w, x.err = x.Counter.Begin(ctx, agent.BeginAsk{Run: a.run, Trial: seq, Job: a.job}); x.err == nil {
			x.window = w.Window
		}
		x.lost = x.err != nil
	})
}

// end closes them.
func (a *agents) end() {
	if a == nil {
		return
	}
	if err := a.settle(context.Background()); err != nil {
		a.remarks = append(a.remarks, err.Error())
	}
	a.all(func(ctx context.Context, x *asked) {
		if x.window == "" {
			return
		}
		x.result, x.err = x.Counter.End(ctx, agent.EndAsk{Window: x.window})
		x.lost = x.err != nil
	})
}

// keepAgents puts what the agents counted into a trial's record. Sums over all agents
// are given only where all have answered: without one they would be too small.
func (s *site) keepAgents(t *record.Trial) {
	a := s.agents
	if a == nil || t == nil || !a.begun {
		return
	}
	a.begun = false
	t.Remarks = append(t.Remarks, a.remarks...)
	total, whole := map[string]int64{}, true
	for _, x := range a.list {
		if x.err != nil || x.result == nil {
			whole = false
			why := "its window was not ended"
			if x.err != nil {
				why = x.err.Error()
			}
			t.Remarks = append(t.Remarks, fmt.Sprintf("the agent %s did not answer, and what it counted is not known: %s", x.Name, why))
			continue
		}
		for _, r := range x.result.Remarks {
			whole = false
			t.Remarks = append(t.Remarks, x.Name+": "+r)
		}
		s.keepWindow(t, x)
		counted := map[string]int64{}
		for _, name := range slices.Sorted(maps.Keys(x.result.Sources)) {
			for id, n := range x.result.Sources[name] {
				counted[id] += n
				total[id] += n
			}
		}
		addValues(t, storage.Values(x.Name+"-", counted))
	}
	if whole {
		addValues(t, storage.Values(storage.SumsPrefix, total))
	}
}

// addValues adds values to a trial that succeeded.
func addValues(t *record.Trial, values map[string]float64) {
	if !t.OK() {
		return
	}
	if t.Values == nil {
		t.Values = map[string]float64{}
	}
	maps.Copy(t.Values, values)
}

// keepWindow keeps an agent's series, with the times of our clock.
func (s *site) keepWindow(t *record.Trial, x *asked) {
	series := x.result.Series
	if series == nil {
		return
	}
	if n := len(x.Clocks); n > 0 {
		series.Request -= x.Clocks[n-1].OffsetNS
	}
	s.keepSamples(t, "the agent "+x.Name+"'s series", "agent-"+x.Name, func(w io.Writer) error { return record.WriteSeries(w, series) })
}

// dismissAgents compares the clocks once more, for the record, and lets the agents go.
func (r *runner) dismissAgents() {
	if r.agents == nil {
		return
	}
	r.agents.all(func(ctx context.Context, x *asked) {
		x.err = nil
		if c, err := x.Counter.Compare(ctx); err == nil {
			x.Clocks = append(slices.Clone(x.Clocks), c)
		}
	})
	for _, x := range r.agents.list {
		for i := range r.rec.Agents {
			if k := &r.rec.Agents[i]; k.Name == x.Name && len(x.Clocks) > 1 {
				k.Clocks = append(k.Clocks, x.Clocks[len(x.Clocks)-1])
			}
		}
		if err := x.Counter.Close(); err != nil {
			r.progress.Remark("the agent " + x.Name + ": " + err.Error())
		}
	}
}
