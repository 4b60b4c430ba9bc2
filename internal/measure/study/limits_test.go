package study

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
)

// limitable is the catalogue with engines that can be limited, as all real ones.
func limitable() *Catalogue {
	cat := catalogue()
	for i := range cat.Engines {
		e := &cat.Engines[i]
		if e.Simulated {
			continue
		}
		levels := map[string][]string{engine.CPULimit: engine.CPULimits, engine.MemoryLimit: engine.MemoryLimits}
		maps.Copy(levels, e.Levels)
		e.Levels = levels
	}
	return cat
}

func limitedEnvs(t *testing.T, text string, set ...string) (ids []string, p *Plan) {
	t.Helper()
	s, err := Read(Source{Path: "test.yaml", Data: []byte(text)}, limitable())
	require.NoError(t, err)
	for i := 0; i+1 < len(set); i += 2 {
		require.NoError(t, s.Limit(set[i], strings.Split(set[i+1], ",")))
	}
	if p, err = Expand(s, limitable(), Options{}); err != nil {
		t.Fatal(err)
	}
	return envIDs(p), p
}

// A list of limits is a factor: of the environments and of the baselines, beside
// which each stands; one limit is everybody's and no factor.
func TestLimits(t *testing.T) {
	const head = "plimsoll: 1\nname: t\nbaselines: [native]\nworkloads: [hello]\n"
	for _, c := range []struct{ text, set, want string }{
		{head + "environments: [docker]\n", "", "native floor docker"},
		{head + "environments: [docker]\nprotocol: {limits: {cpus: 2}}\n", "", "native floor docker"},
		{head + "environments: [docker]\nprotocol: {limits: {cpus: [2, 0.5, none]}}\n", "",
			"native/cpu-limit-2 native/cpu-limit-0.5 native/cpu-limit-none floor/cpu-limit-2 floor/cpu-limit-0.5 floor/cpu-limit-none docker/cpu-limit-2 docker/cpu-limit-0.5 docker/cpu-limit-none"},
		// What an entry names stays, and what can't be limited runs as it is.
		{head + "environments: [{engine: docker, cpu-limit: 4}]\nprotocol: {limits: {cpus: [1, 2]}}\n", "",
			"native/cpu-limit-1 native/cpu-limit-2 floor/cpu-limit-1 floor/cpu-limit-2 docker/cpu-limit-4"},
		{head + "environments: [{engine: [fake, docker]}]\nprotocol: {limits: {memory: [1024MiB, 1.5GiB]}}\n", "",
			"native/memory-limit-1gib native/memory-limit-1536mib floor/memory-limit-1gib floor/memory-limit-1536mib docker/memory-limit-1gib docker/memory-limit-1536mib fake"},
		// A part inherits what it does not give, key by key; both then name what varies.
		{`plimsoll: 1
name: t
baselines: [native]
protocol: {limits: {cpus: [1, 2], memory: 512MiB}}
parts:
  - {name: a, workloads: [hello], environments: [docker]}
  - {name: b, workloads: [stop], environments: [docker], limits: {memory: 64MiB}}
  - {name: c, workloads: [stop], environments: [podman], limits: {cpus: 4}}
`, "", "docker/cpu-limit-1/memory-limit-512mib docker/cpu-limit-2/memory-limit-512mib docker/cpu-limit-1/memory-limit-64mib docker/cpu-limit-2/memory-limit-64mib podman/cpu-limit-4/memory-limit-512mib"},
		// The command line has the last word, on the parts' own limits too.
		{`plimsoll: 1
name: t
baselines: [native]
protocol: {limits: {cpus: [1, 2]}}
parts:
  - {name: a, workloads: [hello], environments: [docker]}
  - {name: b, workloads: [hello], environments: [podman], limits: {cpus: 4}}
`, engine.CPULimit + " 3", "docker podman"},
		{head + "environments: [docker]\n", engine.MemoryLimit + " 64MiB,none " + engine.CPULimit + " 0.5,1",
			"docker/cpu-limit-0.5/memory-limit-64mib docker/cpu-limit-0.5/memory-limit-none docker/cpu-limit-1/memory-limit-64mib docker/cpu-limit-1/memory-limit-none"},
	} {
		got, p := limitedEnvs(t, c.text, strings.Fields(c.set)...)
		want := strings.Fields(c.want)
		if !strings.HasPrefix(c.want, "native") {
			got = slices.DeleteFunc(got, func(id string) bool { return strings.HasPrefix(id, "native") || strings.HasPrefix(id, "floor") })
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s%s\n%q, want\n%q", c.text, c.set, got, want)
		}
		// What is planned is what is put in force.
		for _, e := range p.Environments {
			_, l, err := engine.Limited(e.Levels, engine.Limits{CPUs: p.Protocol.CPUs, MemoryBytes: p.Protocol.MemoryBytes})
			if err != nil || strings.Contains(e.ID, "cpu-limit-") && !strings.Contains(e.ID, fmt.Sprintf("cpu-limit-%v", l.CPUs)) && l.CPUs != 0 {
				t.Errorf("%s is limited to %+v, %v", e.ID, l, err)
			}
		}
	}
	if _, p := limitedEnvs(t, head+"environments: [docker]\n", engine.CPULimit, "3", engine.MemoryLimit, "none"); p.Protocol.CPUs != 3 || p.Protocol.MemoryBytes != 0 {
		t.Errorf("one limit of the command line is no protocol's: %+v", p.Protocol)
	}
}

// What is no limit is refused where it stands, with what would be one.
func TestLimitsRefused(t *testing.T) {
	const head = "plimsoll: 1\nname: t\nworkloads: [hello]\n"
	for text, want := range map[string]string{
		"environments: [docker]\nprotocol: {limits: {cpus: [1, many]}}\n": "test.yaml:5:31",
		"environments: [docker]\nprotocol: {limits: {cpus: [1, 1]}}\n":    "names \"1\" twice",
		"environments: [docker]\nprotocol: {limits: {memory: []}}\n":      "memory is an empty list",
		"environments: [{engine: docker, memory-limit: 1024MiB}]\n":       "in its largest whole unit",
		"environments: [{engine: docker, cpu-limit: 5000}]\n":             "from 0.01 to 4096",
	} {
		_, err := Read(Source{Path: "test.yaml", Data: []byte(head + text)}, limitable())
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s%v, want %s", text, err, want)
		}
	}
	s, err := Read(Source{Path: "test.yaml", Data: []byte(head + "environments: [docker]\n")}, limitable())
	require.NoError(t, err)
	for _, levels := range [][]string{{"1", "x"}, {"1", "1.0"}, {"0"}, {""}} {
		if err := s.Limit(engine.CPULimit, levels); err == nil {
			t.Errorf("--limit-cpus %v is taken", levels)
		}
	}
}

// A scale gives a part other limits, key by key; a list of them is a factor as anywhere.
func TestLimitsOfAScaledPart(t *testing.T) {
	const text = `plimsoll: 1
name: t
baselines: [native]
protocol: {limits: {cpus: 4, memory: 512MiB}}
parts:
  - {name: a, workloads: [hello], environments: [docker], limits: {memory: 256MiB}}
  - {name: b, workloads: [stop], environments: [podman]}
scales:
  quick:
    protocol: {blocks: 2}
    parts: {a: {limits: {cpus: [1, 2]}}}
`
	full, err := Read(Source{Path: "test.yaml", Data: []byte(text)}, limitable())
	require.NoError(t, err)
	for scale, want := range map[string][]string{
		"":      {"docker/memory-limit-256mib", "podman/memory-limit-512mib"},
		"quick": {"docker/cpu-limit-1/memory-limit-256mib", "docker/cpu-limit-2/memory-limit-256mib", "podman/cpu-limit-4/memory-limit-512mib"},
	} {
		s, err := full.At(scale)
		require.NoError(t, err)
		p, err := Expand(s, limitable(), Options{})
		require.NoError(t, err)
		got := slices.DeleteFunc(envIDs(p), func(id string) bool { return !strings.Contains(id, "docker") && !strings.Contains(id, "podman") })
		if !slices.Equal(got, want) {
			t.Errorf("at scale %q: %q, want %q", scale, got, want)
		}
	}
	const wrong = "plimsoll: 1\nname: t\nparts:\n  - {name: a, workloads: [hello], environments: [docker]}\nscales: {quick: {parts: {a: {limits: {cpus: fast}}}}}\n"
	if _, err := Read(Source{Path: "test.yaml", Data: []byte(wrong)}, limitable()); err == nil || !strings.Contains(err.Error(), "test.yaml:5:") {
		t.Errorf("a wrong limit: %v", err)
	}
}
