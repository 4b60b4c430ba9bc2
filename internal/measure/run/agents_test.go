package run

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/agent"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/fake"
	"plimsoll/internal/measure/storage"
	"plimsoll/internal/record"
)

// unsimulated is the fake engine without its word that it is one, so that what
// is done around a real trial is done around its trials.
type unsimulated struct{ *fake.Fake }

func (u unsimulated) Open(ctx context.Context, kit *engine.Kit, spec engine.Spec) (engine.Environment, error) {
	env, err := u.Fake.Open(ctx, kit, spec)
	return plainEnv{env}, err
}

type plainEnv struct{ engine.Environment }

func (e plainEnv) Facts() map[string]string {
	facts := maps.Clone(e.Environment.Facts())
	delete(facts, "simulated")
	return facts
}

// talker is an agent that says what it is told to; from a trial on something is
// wrong with it.
type talker struct {
	name    string
	counted map[string]int64
	wrong   func(ctx context.Context, trial int) error
	begun   atomic.Int64
	closed  atomic.Bool
}

func (f *talker) About(context.Context) (*agent.About, error) {
	return &agent.About{Name: f.name, Sources: []agent.SourceState{{Name: "ceph-osd", Verified: true}, {Name: "lustre-oss"}, {Name: "nfs-server", Absent: "none"}}}, nil
}

func (f *talker) Begin(ctx context.Context, ask agent.BeginAsk) (*agent.BeginAnswer, error) {
	f.begun.Add(1)
	if f.wrong != nil {
		if err := f.wrong(ctx, ask.Trial); err != nil {
			return nil, err
		}
	}
	return &agent.BeginAnswer{Window: ask.Run}, nil
}

func (f *talker) End(context.Context, agent.EndAsk) (*agent.Window, error) {
	return &agent.Window{Sources: map[string]map[string]int64{"ceph-osd": f.counted},
		Series: &record.Series{SeriesHead: record.SeriesHead{Collector: "agent-" + f.name, Request: 1_000_000, Columns: []record.Column{{ID: "host-user"}}}, Rows: [][]int64{{0, 7}}}}, nil
}

func (f *talker) Compare(context.Context) (record.ClockOffset, error) {
	return record.ClockOffset{AtNS: 1, OffsetNS: 400_000, UncertaintyNS: 5}, nil
}

func (f *talker) Close() error { f.closed.Store(true); return nil }

func (f *talker) meet(t *testing.T) Agent {
	t.Helper()
	rec, _, err := agent.Meet(t.Context(), "host:1", f)
	require.NoError(t, err)
	return Agent{Agent: rec, Counter: f}
}

// What agents count lands in the record, by agent and as a sum; one that is lost
// or hangs in the middle costs its values and those sums, and nothing else.
func TestAgents(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for agents that hang: left out with -short")
	}
	good := &talker{name: "oss1", counted: map[string]int64{storage.DataWritten: 100, storage.DataRequests: 4, storage.DataWait: 400}}
	lost := &talker{name: "oss2", counted: map[string]int64{storage.DataWritten: 11}}
	hangs := &talker{name: "mds1", counted: map[string]int64{storage.MetadataOpens: 3}}
	lost.wrong = func(_ context.Context, trial int) error {
		if trial == 1 {
			return errors.New("connection refused")
		}
		return nil
	}
	hangs.wrong = func(ctx context.Context, trial int) error {
		if trial == 2 {
			<-ctx.Done()
			return ctx.Err()
		}
		return nil
	}
	o := options(t, 3, unsimulated{fake.New()})
	o.Agents = []Agent{good.meet(t), lost.meet(t), hangs.meet(t)}
	shortAgents(t, time.Second)
	sum, err := Execute(t.Context(), o)
	require.NoError(t, err)
	if sum.Trials != 4 || sum.Failed != 0 {
		t.Fatalf("%+v", sum)
	}
	r, err := record.Open(o.Dir)
	require.NoError(t, err)
	agents := r.Run().Agents
	if len(agents) != 3 || len(agents[0].Clocks) != 2 || agents[0].Host != "host:1" || len(agents[0].Sources) != 2 || !agents[0].Sources[1].Unverified {
		t.Errorf("recorded %+v", agents)
	}
	ids := map[string]bool{}
	for _, m := range r.Run().Workloads[0].Metrics {
		ids[m.ID] = true
	}
	for _, id := range []string{"storage-data-written", "oss1-data-written", "mds1-metadata-opens", "storage-data-request-wait"} {
		if !ids[id] {
			t.Errorf("no metric %s is announced", id)
		}
	}
	var trials []record.Trial
	for _, ts := range results(t, o.Dir) {
		trials = append(trials, ts...)
	}
	slices.SortFunc(trials, func(a, b record.Trial) int { return a.Seq - b.Seq })
	for i, tr := range trials {
		said := strings.Join(tr.Remarks, "; ")
		_, summed := tr.Values["storage-data-written"]
		if tr.Values["oss1-data-written"] != 100 || tr.Values["oss1-data-request-wait"] != 100 {
			t.Errorf("trial %d: %v", i, tr.Values)
		}
		if !slices.ContainsFunc(tr.Samples, func(s string) bool { return strings.HasSuffix(s, ".agent-oss1.jsonl") }) {
			t.Errorf("trial %d has the series %q", i, tr.Samples)
		}
		_, two := tr.Values["oss2-data-written"]
		_, three := tr.Values["mds1-metadata-opens"]
		switch i {
		case 1:
			if two || summed || !three || !strings.Contains(said, "the agent oss2 did not answer") || !strings.Contains(said, "connection refused") {
				t.Errorf("trial 1: %v, %s", tr.Values, said)
			}
		case 2:
			if !two || summed || three || !strings.Contains(said, "the agent mds1 did not answer") {
				t.Errorf("trial 2: %v, %s", tr.Values, said)
			}
		default:
			if tr.Values["storage-data-written"] != 111 || tr.Values["storage-metadata-opens"] != 3 || strings.Contains(said, "agent") {
				t.Errorf("trial %d: %v, %s", i, tr.Values, said)
			}
		}
	}
	if !good.closed.Load() || good.begun.Load() != 4 {
		t.Errorf("closed %v, begun %d", good.closed.Load(), good.begun.Load())
	}
	f, err := r.Samples("00000000.agent-oss1.jsonl")
	require.NoError(t, err)
	defer f.Close()
	s, err := record.ReadSeries(f, "x")
	if err != nil || s.Request != 600_000 {
		t.Errorf("the series has not the times of our clock: %+v, %v", s, err)
	}
}

// shortAgents makes agents' time limit a short one for a test.
func shortAgents(t *testing.T, limit time.Duration) {
	old := agentLimit
	agentLimit = limit
	t.Cleanup(func() { agentLimit = old })
}
