package study

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	workloads "plimsoll/internal/measure/workload"
	"plimsoll/internal/record"
)

// catalogue is a small market of engines with every kind of gap.
func catalogue() *Catalogue {
	none := []string{"default", "none", "host"}
	yes := []string{"no", "yes"}
	return &Catalogue{
		Factors: engine.Factors,
		Engines: []EngineInfo{
			{Name: "native", Baseline: true},
			{Name: "floor", Baseline: true, Levels: map[string][]string{"network": {"none", "host"}}},
			{Name: "host", Baseline: true},
			{Name: "oci", Detached: true, Levels: map[string][]string{"runtime": {"runc", "crun", "youki", "runsc"}, "client": {"steps", "run"}, "network": {"none", "host"}}},
			{Name: "docker", Detached: true, Levels: map[string][]string{"runtime": {"default", "runc", "crun", "runsc"}, "client": {"api", "cli"}, "network": none, "seccomp": {"default", "off"}, "storage": {"default", "overlay2", "vfs", "btrfs"}}},
			{Name: "podman", Detached: true, Levels: map[string][]string{"runtime": {"default", "runc", "crun"}, "storage": {"default", "overlay", "vfs"}, "network": none, "rootless": yes}},
			{Name: "charliecloud", Levels: map[string][]string{"storage": {"directory", "squashfs"}}},
			{Name: "apptainer", Levels: map[string][]string{"storage": {"sif", "sandbox"}, "rootless": yes, "network": none}},
			{Name: "fake", Detached: true, Simulated: true, Levels: map[string][]string{"runtime": {"medium", "twin", "fast", "slow", "flaky"}, "client": {"api", "cli"}}},
		},
		Workloads: []WorkloadInfo{
			{Name: "hello", Title: "hello"},
			{Name: "stop", Title: "stop", NeedsDetached: true, Parameters: map[string][]string{"on-term": {"exit", "ignore"}}},
		},
		Rules: []Rule{{
			When:    map[string][]string{"engine": {"podman"}, "rootless": {"yes"}, "runtime": {"runc"}, "storage": {"nonesuch"}},
			Because: "never matches", Source: "https://example.org/",
		}},
	}
}

// lives are the times of engines; a trial takes its container's life and nothing
// else, in the payload's image.
func lives(typical map[string]time.Duration) Times {
	return Times{
		Life:  func(name string) time.Duration { return typical[name] },
		Trial: func(_ *record.Workload, life time.Duration) time.Duration { return life },
		Image: func(*record.Workload) string { return "payload" },
	}
}

// market is what there really is, as the command line offers it: by the file from which
// the half that is built everywhere knows the engines. A test of the command line holds it
// to what they say, and these tests are linked without them. Each test has one of its own.
func market() *Catalogue {
	c := offered()
	c.Engines, c.Workloads = slices.Clone(c.Engines), slices.Clone(c.Workloads)
	for i := range c.Engines {
		c.Engines[i].Levels = maps.Clone(c.Engines[i].Levels)
	}
	return &c
}

var offered = sync.OnceValue(func() (c Catalogue) {
	text, err := os.ReadFile("../portable/catalogue.json")
	if err == nil {
		err = json.Unmarshal(text, &c)
	}
	if err != nil {
		panic(err)
	}
	for _, x := range workloads.Catalogue() {
		c.Workloads = append(c.Workloads, WorkloadInfo{Name: x.Name, Title: x.Title, Parameters: x.Parameters, Numbers: numbers(x), Small: x.Small, NeedsDetached: x.Detached, NeedsStore: x.Pulls(), Metrics: x.Metrics, Commands: x.Commands()})
	}
	return c
})

func numbers(x workloads.Workload) map[string]Numbers {
	out := map[string]Numbers{}
	for name, r := range x.Numbers {
		out[name] = Numbers{Min: r.Min, Max: r.Max}
	}
	return out
}

func read(t *testing.T, text string) (*Study, error) {
	t.Helper()
	return Read(Source{Path: "test.yaml", Data: []byte(text)}, catalogue())
}

func mustRead(t *testing.T, text string) *Study {
	t.Helper()
	s, err := read(t, text)
	if err != nil {
		t.Fatalf("reading:\n%s\n%v", text, err)
	}
	return s
}

func mustExpand(t *testing.T, text string, opts Options) *Plan {
	t.Helper()
	p, err := Expand(mustRead(t, text), catalogue(), opts)
	require.NoError(t, err)
	return p
}

// onlyErrors demands the one type of error that the command line maps to its
// exit status.
func onlyErrors(t *testing.T, err error) *Errors {
	t.Helper()
	var es *Errors
	if !errors.As(err, &es) || len(es.List) == 0 {
		t.Fatalf("the error is a %T, not *Errors: %v", err, err)
	}
	var one *Error
	if !errors.As(err, &one) {
		t.Fatalf("no *Error in %v", err)
	}
	return es
}

func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}
