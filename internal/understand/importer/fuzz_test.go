package importer

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
)

// sound checks what every imported run must be, whatever the file was.
func sound(t *testing.T, files ...File) {
	run, trials, err := Import(files)
	if err != nil {
		return
	}
	if len(trials) == 0 || len(run.Environments) == 0 || len(run.Workloads) == 0 || len(run.Host.Remarks) == 0 {
		t.Fatalf("%d trials, %d environments, %d workloads", len(trials), len(run.Environments), len(run.Workloads))
	}
	envs, metrics := map[string]bool{}, map[string]map[string]bool{}
	for _, e := range run.Environments {
		if e.ID == "" || e.ID != clean(e.ID) || envs[e.ID] {
			t.Fatalf("environment %q", e.ID)
		}
		envs[e.ID] = true
	}
	for _, w := range run.Workloads {
		if w.ID == "" || w.ID != clean(w.ID) || metrics[w.ID] != nil {
			t.Fatalf("workload %q", w.ID)
		}
		metrics[w.ID] = map[string]bool{}
		for _, m := range w.Metrics {
			if m.ID == "" || m.ID != clean(m.ID) || metrics[w.ID][m.ID] || m.From != "" || m.Better == "" {
				t.Fatalf("metric %+v", m)
			}
			metrics[w.ID][m.ID] = true
		}
	}
	for i := range trials {
		tr := &trials[i]
		if tr.Seq != i || !envs[tr.Env] || metrics[tr.Workload] == nil {
			t.Fatalf("trial %+v", tr)
		}
		if (tr.Failure == nil) != (len(tr.Values) > 0) {
			t.Fatalf("trial %+v", tr)
		}
		for id, v := range tr.Values {
			if !metrics[tr.Workload][id] || math.IsNaN(v) || math.IsInf(v, 0) {
				t.Fatalf("%s is %g", id, v)
			}
		}
	}
	if _, err := json.Marshal(run); err != nil {
		t.Fatal(err)
	}
	if _, err := json.Marshal(trials); err != nil {
		t.Fatal(err)
	}
	if run.Protocol.Order != "sequential" || run.Imported == nil || run.Format > record.FormatVersion {
		t.Fatalf("%+v", run.Protocol)
	}
}

func FuzzHyperfine(f *testing.F) {
	data, err := os.ReadFile("testdata/hyperfine.json")
	require.NoError(f, err)
	f.Add(data)
	f.Add([]byte(`{"results":[{"command":"a","times":[1,2e-9],"exit_codes":[0,null],"memory_usage_byte":[1,2],"parameters":{"n":3,"workload":"w","environment":"e","metric":"startup"}}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if detect(data) == Hyperfine {
			sound(t, File{Path: "a.json", Data: data})
			sound(t, File{Path: "a.json", Data: data}, File{Path: "b.json", Data: data})
		}
	})
}

func FuzzBenchfmt(f *testing.F) {
	data, err := os.ReadFile("testdata/go-old.txt")
	require.NoError(f, err)
	f.Add(data)
	f.Add([]byte("environment: e\nfactor-x: y\nUnit startup-ns/op better=lower\nBenchmarkHello/env=a_b/ 1 8.1e+06 startup-ns/op 3 -x 4 x- 5 ns/op 6 MB/s\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if detect(data) == Benchfmt {
			sound(t, File{Path: "a.txt", Data: data})
			sound(t, File{Path: "a.txt", Data: data}, File{Path: "b.txt", Data: data})
		}
	})
}
