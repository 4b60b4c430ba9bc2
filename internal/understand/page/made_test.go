package page

import (
	"time"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/sample"
	"plimsoll/internal/understand/document"
	"plimsoll/internal/understand/report"
	"plimsoll/internal/understand/view"
)

func column(v ...float64) []*float64 {
	out := make([]*float64, len(v))
	for i := range v {
		if v[i] >= 0 {
			out[i] = &v[i]
		}
	}
	return out
}

// made is the data of a small run: native, two engines, one of which failed
// once and one that has no value.
func made() *view.Data {
	env := func(id, group, baseline string) view.Env {
		return view.Env{Environment: record.Environment{ID: id, Engine: group, Baseline: baseline}, Name: id, Group: group}
	}
	startup, _ := record.MetricByID("startup")
	d := &view.Data{
		Schema: view.Schema,
		Run: analyze.RunInfo{
			ID: "abcd1234", Study: "quick", Title: "Which engine starts fastest?", Status: "done",
			Started: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), Finished: time.Date(2026, 3, 1, 12, 1, 5, 0, time.UTC),
			Tool: record.Tool{Version: "v0.1"}, Protocol: record.Protocol{Blocks: 10, PerBlock: 1, Seed: 7, Order: "random", Cache: "warm"},
			Host:  record.Host{Name: "box", Kernel: "6.8.0", OS: "Debian 13", Arch: "amd64", CPU: "A CPU", CPUs: 2, Memory: 4 << 30, Cgroup: "v2", Root: true},
			Delta: 0.01, Blocks: 10, Trials: 40, Failed: 11, Repeat: "plimsoll run quick --seed 7",
		},
		Facts: []report.Named{{Name: "Study", Value: "quick: Which engine starts fastest?"}, {Name: "Protocol", Value: "4 environments, 10 blocks of 1 trial each, random order, at most 1 CPU"}},
		Answer: &report.Said{Headline: "quick · start-up of hello, lower is better", Lines: []report.SaidLine{
			{Label: "Fastest", Text: "crun 13.0 ms [12.5, 13.6]", Tone: document.Head}, {Label: "Beware", Text: "11 trials failed", Tone: document.Warn}}},
		Verdict:  []string{"crun starts fastest, 13 ms.", "Docker takes 13 times as long."},
		Trust:    []view.Trust{{Level: "warn", Title: "Failures", Text: "11 of 40 trials failed."}, {Level: "good", Title: "Drift", Text: "None."}},
		Envs:     []view.Env{env("native", "native", "native"), env("crun", "oci", ""), env("docker", "docker", ""), env("broken", "podman", "")},
		Excluded: []record.Excluded{{ID: "lxd", Engine: "lxd", Kind: "unavailable", Reason: "there is no LXD here", Fix: "apt install lxd"}},
		Remarks:  []record.Remark{{Code: "few", Level: "info", Text: "There are few blocks.", Advice: "Run more."}},
	}
	d.Works = []view.Work{{
		ID: "hello", Title: "Hello", Show: []string{"startup"}, First: "startup",
		Counts: []analyze.Count{{Env: "native", Trials: 10}, {Env: "crun", Trials: 10},
			{Env: "docker", Trials: 10, Failed: 1, Classes: []sample.Failure{{Class: record.TimeOut, N: 1, Text: "took longer than 30 s"}}},
			{Env: "broken", Trials: 10, Failed: 10, Classes: []sample.Failure{{Class: record.EngineError, N: 10, Text: "no such file"}}}},
		Tables: []view.Table{{
			Metric: startup, Ranking: []int{0, 1, 2}, N: []int{10, 10, 9, 0}, Blocks: []int{10, 10, 9, 0},
			Median: column(2.5e5, 1.3e7, 1.75e8, -1), Lo: column(2.4e5, 1.25e7, 1.68e8, -1), Hi: column(2.6e5, 1.36e7, 1.81e8, -1), P95: column(-1, -1, -1, -1),
			Group: []string{"a", "b", "c", ""}, Missing: []string{"", "", "", "all trials failed"},
			Places: []*analyze.Places{nil, {First: 1, Last: 1}, {First: 2, Last: 2}, nil}, Times: column(-1, -1, 13.5, -1),
			Against: []view.Against{{Baseline: "native", Ratio: column(1, 52, 700, -1), Lo: column(1, 50, 620, -1), Hi: column(1, 55, 750, -1),
				Verdict: []analyze.Verdict{"", analyze.Differs, analyze.Differs, ""}, Needed: make([]int, 4)}},
			Dist: []view.Dist{{Values: []float64{2.5e5}, Trial: []int{0}}, {}, {}, {}},
		}},
	}}
	d.Trials = view.Trials{Of: 40, Seq: []int{0}, Block: []int{1}, Env: []int{0}, Work: []int{0}, At: []int64{12}, Class: []string{""}, Text: []string{""}}
	return d
}

// hostile is made with texts that would be markup, end a script, turn the
// direction of writing or speak to a terminal, in each field that is a text.
const hostile = `</script><script>alert("x")</script><img src=x onerror=alert(1)>{{.}}'"` + "\x1b[31m\u202e\xff"

func madeHostile() *view.Data {
	d := made()
	for _, s := range []*string{&d.Run.ID, &d.Run.Study, &d.Run.Title, &d.Run.Scale, &d.Run.Status, &d.Run.Tool.Version, &d.Run.Repeat, &d.Run.Host.Name, &d.Run.Host.CPU, &d.Run.Host.OS,
		&d.Facts[0].Name, &d.Facts[1].Value, &d.Answer.Headline, &d.Answer.Lines[0].Label, &d.Answer.Lines[1].Text, &d.Verdict[0], &d.Trust[0].Title, &d.Trust[0].Text, &d.Envs[2].ID, &d.Envs[2].Name, &d.Envs[2].Group, &d.Envs[2].Engine,
		&d.Excluded[0].ID, &d.Excluded[0].Reason, &d.Excluded[0].Fix, &d.Excluded[0].Kind, &d.Remarks[0].Text, &d.Remarks[0].Advice, &d.Remarks[0].Level,
		&d.Works[0].ID, &d.Works[0].Title, &d.Works[0].Counts[3].Classes[0].Text, &d.Works[0].Tables[0].Metric.Title, &d.Works[0].Tables[0].Metric.What, &d.Works[0].Tables[0].Metric.Unit,
		&d.Works[0].Tables[0].Group[2], &d.Works[0].Tables[0].Missing[3], &d.Works[0].Tables[0].Against[0].Baseline, &d.Shortened} {
		*s = hostile
	}
	d.Works[0].Counts[2].Env, d.Envs[0].Baseline = hostile, "native"
	d.Envs[2].Facts = map[string]string{hostile: hostile}
	return d
}
