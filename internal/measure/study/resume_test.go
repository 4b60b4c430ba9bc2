package study

import (
	"encoding/json"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
)

func recorded(t *testing.T) (*Plan, *record.Run) {
	t.Helper()
	p := mustExpand(t, `plimsoll: 1
name: t
title: A title
workloads: [hello, {name: stop, parameters: {on-term: [exit, ignore]}}]
environments: [{engine: docker, client: [api, cli], network: none}, charliecloud, {engine: docker, storage: squashfs}, {engine: apptainer, as: [a, b]}]
sort: startup
metrics: [startup, whole]
`, Options{})
	run := &record.Run{Format: record.FormatVersion, ID: "abcd1234"}
	p.Record(run)
	b, err := json.Marshal(run)
	require.NoError(t, err)
	var back record.Run
	require.NoError(t, json.Unmarshal(b, &back))
	return p, &back
}

func TestResume(t *testing.T) {
	p, run := recorded(t)
	if run.Study.Title != "A title" || run.Study.Sort != "startup" || len(run.Study.Metrics) != 2 || !strings.HasPrefix(run.Study.Source, "plimsoll: 1\n") {
		t.Errorf("the study was recorded as %+v", run.Study)
	}
	for i := range run.Environments { // what the run itself adds
		run.Environments[i].Facts = map[string]string{"version": "1"}
		run.Environments[i].Clock = record.ClockShared
	}
	q, err := FromRun(run)
	require.NoError(t, err)
	if p.Trials() != q.Trials() || p.Trials() == 0 {
		t.Fatalf("%d trials, and %d after the resume", p.Trials(), q.Trials())
	}
	for i := range p.Trials() {
		a, b := p.Trial(i), q.Trial(i)
		if a.Env.ID != b.Env.ID || a.Workload.ID != b.Workload.ID || a.Block != b.Block || a.Repetition != b.Repetition {
			t.Fatalf("trial %d: %s in %s, then %s in %s", i, a.Workload.ID, a.Env.ID, b.Workload.ID, b.Env.ID)
		}
		require.NoError(t, q.Check(&record.Trial{Seq: i, Block: a.Block, Warmup: a.Warmup, Env: a.Env.ID, Workload: a.Workload.ID}))
	}
	if q.Check(&record.Trial{Seq: p.Trials()}) == nil || q.Check(&record.Trial{Seq: 0, Env: "nonesuch"}) == nil || q.Check(&record.Trial{Seq: -1}) == nil {
		t.Error("a trial of another plan passed")
	}
}

func TestResumeRefuses(t *testing.T) {
	for name, spoil := range map[string]func(*record.Run){
		"format":      func(r *record.Run) { r.Format++ },
		"algorithm":   func(r *record.Run) { r.Protocol.Algorithm = "other" },
		"seed":        func(r *record.Run) { r.Protocol.Seed++ },
		"no seed":     func(r *record.Run) { r.Protocol.Seed = 0 },
		"blocks":      func(r *record.Run) { r.Protocol.Blocks = 0 },
		"many blocks": func(r *record.Run) { r.Protocol.Blocks = 1 << 40 },
		"more blocks": func(r *record.Run) { r.Protocol.Blocks++ },
		"limit":       func(r *record.Run) { r.Protocol.MemoryBytes++ },
		"order":       func(r *record.Run) { r.Protocol.Order = "" },
		"env":         func(r *record.Run) { r.Environments = r.Environments[1:] },
		"env id":      func(r *record.Run) { r.Environments[0].ID = "x" },
		"env twice":   func(r *record.Run) { r.Environments = append(r.Environments, r.Environments[0]) },
		"levels":      func(r *record.Run) { r.Environments[4].Levels = map[string]string{"client": "api"} },
		"no env":      func(r *record.Run) { r.Environments = nil },
		"params":      func(r *record.Run) { r.Workloads[1].Params["on-term"] = "ignore" },
		"no workload": func(r *record.Run) { r.Workloads = nil },
		"excluded":    func(r *record.Run) { r.Excluded = nil },
		"digest":      func(r *record.Run) { r.Protocol.Plan = "" },
	} {
		_, run := recorded(t)
		spoil(run)
		if _, err := FromRun(run); err == nil || !strings.Contains(err.Error(), "run abcd1234 can't be resumed: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
