package study

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
)

func envIDs(p *Plan) []string {
	var out []string
	for _, e := range p.Environments {
		out = append(out, e.ID)
	}
	return out
}

func excludedIDs(p *Plan, kind string) []string {
	var out []string
	for _, x := range p.Excluded {
		if x.Kind == kind {
			id := x.ID
			if x.Workload != "" {
				id += " × " + x.Workload
			}
			out = append(out, id)
		}
	}
	return out
}

func codes(p *Plan) []string {
	var out []string
	for _, r := range p.Remarks {
		out = append(out, r.Code)
	}
	return out
}

// seven is what TestExpand's plans are made from, in short.
func seven(workloads, environments string) string {
	return "plimsoll: 1\nname: t\nworkloads: " + workloads + "\n" + environments
}

func TestExpand(t *testing.T) {
	for _, c := range []struct {
		name, text              string
		envs, impossible, codes []string
	}{
		{
			name: "baselines are added in front",
			text: seven("[hello]", "environments: [docker]"),
			envs: []string{"native", "floor", "host", "docker"}, codes: []string{"baseline-added", "baseline-added", "baseline-added"},
		}, {
			name: "host can be left out, native and floor can't",
			text: seven("[hello]", "baselines: []\nenvironments: [floor, docker]"),
			envs: []string{"native", "floor", "docker"}, codes: []string{"baseline-added"},
		}, {
			name: "levels that vary are named, others are not",
			text: seven("[hello]", "environments: [{engine: docker, client: [api, cli], runtime: [runc, crun], network: default}]"),
			envs: []string{"native", "floor", "host", "docker/runc/api", "docker/crun/api", "docker/runc/cli", "docker/crun/cli"},
		}, {
			name: "a level that is named and not the default is shown, vague ones with their factor",
			text: seven("[hello]", "environments: [{engine: docker, network: none, seccomp: off}, {engine: podman, rootless: yes}]"),
			envs: []string{"native", "floor", "host", "docker/network-none/seccomp-off", "podman/rootless"},
		}, {
			name: "the common level is not shown, what departs from it is",
			text: seven("[hello]", "common: {network: none}\nenvironments: [docker, {engine: docker, network: default}]"),
			envs: []string{"native", "floor", "host", "docker", "docker/network-default"},
		}, {
			name: "an engine without the common level says so",
			text: seven("[hello]", "common: {network: none}\nenvironments: [charliecloud]"),
			envs: []string{"native", "floor", "host", "charliecloud"}, codes: []string{"unequal-terms", "baseline-added", "baseline-added", "baseline-added"},
		}, {
			name: "what two entries ask for is one environment; the default named is the default",
			text: seven("[hello]", "environments: [docker, {engine: docker, client: [api, cli]}, {engine: docker, runtime: default}]"),
			envs: []string{"native", "floor", "host", "docker/api", "docker/cli"},
		}, {
			name: "A/A",
			text: seven("[hello]", "environments: [{engine: native, as: [a, b]}, {engine: docker, client: cli, as: [x, y]}]"),
			envs: []string{"floor", "host", "native@a", "native@b", "docker/cli@x", "docker/cli@y"},
		}, {
			name:       "several engines, and what one of them does not have",
			text:       seven("[hello]", "environments: [{engine: [docker, charliecloud, podman], storage: [btrfs, squashfs]}, docker]"),
			envs:       []string{"native", "floor", "host", "docker/btrfs", "charliecloud/squashfs", "docker"},
			impossible: []string{"docker/squashfs", "charliecloud/btrfs", "podman/btrfs", "podman/squashfs"},
		}, {
			name: "exclusions by factor, by default level, by engine and by workload",
			text: seven("[hello, {name: stop, parameters: {on-term: [exit, ignore]}}]",
				"environments: [{engine: docker, runtime: [runc, runsc], client: [api, cli]}, podman, charliecloud]\n"+
					"exclude:\n- {when: {runtime: runsc, client: api}, because: b}\n- {when: {engine: podman, workload: [stop]}, because: b}\n- {when: {runtime: crun}, because: unused}"),
			envs: []string{"native", "floor", "host", "docker/runc/api", "docker/runc/cli", "docker/runsc/cli", "podman", "charliecloud"},
			impossible: []string{"native × stop/exit", "native × stop/ignore", "floor × stop/exit", "floor × stop/ignore", "host × stop/exit", "host × stop/ignore",
				"docker/runsc/api", "podman × stop/exit", "podman × stop/ignore", "charliecloud × stop/exit", "charliecloud × stop/ignore"},
			codes: []string{"baseline-added", "baseline-added", "baseline-added", "rule-unused"},
		}, {
			name:       "a baseline that the study excludes was not added",
			text:       seven("[hello]", "environments: [docker]\nexclude: [{when: {engine: [host, floor]}, because: b}]"),
			envs:       []string{"native", "docker"},
			impossible: []string{"floor", "host"}, codes: []string{"baseline-added"},
		}, {
			name: "simulated engines have no measured baseline",
			text: seven("[hello]", "environments: [fake]"),
			envs: []string{"fake"}, codes: []string{"simulated"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := mustExpand(t, c.text, Options{})
			if !reflect.DeepEqual(envIDs(p), c.envs) {
				t.Errorf("environments\n %v, want\n %v", envIDs(p), c.envs)
			}
			if got := excludedIDs(p, Impossible); !reflect.DeepEqual(got, c.impossible) {
				t.Errorf("impossible\n %v, want\n %v", got, c.impossible)
			}
			if c.codes != nil && !reflect.DeepEqual(codes(p), c.codes) {
				t.Errorf("remarks %v, want %v", codes(p), c.codes)
			}
			for _, x := range p.Excluded {
				if x.Reason == "" || x.Engine == "" {
					t.Errorf("%s is excluded without a reason: %+v", x.ID, x)
				}
			}
		})
	}
}

func TestUnavailable(t *testing.T) {
	asked := map[string]map[string]string{}
	p := mustExpand(t, seven("[hello]", "environments: [{engine: docker, runtime: [runc, runsc]}, {engine: podman, runtime: youki}]\nexclude: []"), Options{
		Usable: func(engine string, levels map[string]string) (bool, string, string) {
			asked[engine+levels["runtime"]] = levels
			return levels["runtime"] != "runsc", "runsc is not installed.", "apt-get install runsc"
		},
	})
	if got := excludedIDs(p, Unavailable); !reflect.DeepEqual(got, []string{"docker/runsc"}) {
		t.Fatalf("unavailable: %v", got)
	}
	x := p.Excluded[slices.IndexFunc(p.Excluded, func(x record.Excluded) bool { return x.Kind == Unavailable })]
	if x.Reason != "runsc is not installed." || x.Fix != "apt-get install runsc" || x.Levels["runtime"] != "runsc" {
		t.Errorf("%+v", x)
	}
	if _, ok := asked["podmanyouki"]; ok {
		t.Error("the machine was asked for what is impossible")
	}
	want := Counts{Valid: 4, Impossible: 1, Unavailable: 1, Cells: 4, Trials: 44}
	if got := p.Counts(); got != want {
		t.Errorf("counts %+v, want %+v", got, want)
	}
	if e := p.Environments[0]; e.Baseline != "native" || p.Environments[3].Baseline != "" {
		t.Errorf("baseline of %+v", e)
	}
}

func TestNothingPossible(t *testing.T) {
	_, err := Expand(mustRead(t, seven("[hello]", "environments: [{engine: charliecloud, client: api}]")), catalogue(), Options{})
	es := onlyErrors(t, err)
	want := `test.yaml:4:16: every environment of the study is impossible (charliecloud/api: charliecloud has no choice of client), expected at least one that can be`
	if es.Error() != want {
		t.Errorf("got  %s\nwant %s", es, want)
	}
}

func TestWorkloads(t *testing.T) {
	for text, want := range map[string]string{
		"[hello]": "hello map[]",
		"[stop]":  "stop map[on-term:exit]",
		"[{name: stop, parameters: {on-term: ignore}}]":         "stop/ignore map[on-term:ignore]",
		"[{name: stop, parameters: {on-term: [exit, ignore]}}]": "stop/exit map[on-term:exit] stop/ignore map[on-term:ignore]",
	} {
		var got []string
		for _, w := range mustExpand(t, seven(text, "environments: [docker]"), Options{}).Workloads {
			got = append(got, w.ID, fmt.Sprint(w.Params))
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%s: %s, want %s", text, s, want)
		}
	}
}

func TestDrop(t *testing.T) {
	p := mustExpand(t, seven("[hello, stop]", "environments: [docker, podman]"), Options{})
	before := p.Trial(p.Trials() - 1)
	docker := &p.Environments[slices.Index(envIDs(p), "docker")]
	require.NoError(t, p.Drop("floor", "no overlay", "modprobe overlay"))
	if slices.ContainsFunc(p.Remarks, func(r record.Remark) bool { return r.Env == "floor" }) {
		t.Errorf("floor is gone, and a remark says that it was added: %+v", p.Remarks)
	}
	if got, want := envIDs(p), []string{"native", "host", "docker", "podman"}; !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	for trial := range p.From(0) {
		if trial.Env.ID == "floor" {
			t.Fatal("a trial of what was dropped")
		}
		if trial.Workload.ID == "stop" && (trial.Env.ID == "native" || trial.Env.ID == "host") {
			t.Fatalf("%s in %s", trial.Workload.ID, trial.Env.ID)
		}
	}
	if before.Seq <= p.Trials()-1 {
		t.Error("the plan is as long as before")
	}
	if got := excludedIDs(p, Impossible); slices.Contains(got, "floor × stop") {
		t.Errorf("floor is listed twice: %v", got)
	}
	// A run that has opened the others points to them.
	if docker.ID != "docker" {
		t.Errorf("docker has become %s", docker.ID)
	}
	if p.Drop("nonesuch", "", "") == nil {
		t.Error("dropped what is not there")
	}
}

func TestEstimate(t *testing.T) {
	p := mustExpand(t, seven("[hello]", "protocol: {blocks: 3, warmup: 1, per-block: 2, pause: 100ms}\nenvironments: [{engine: docker, client: [api, cli]}]"), Options{})
	got := p.Estimate(lives(map[string]time.Duration{"docker": 200 * time.Millisecond, "host": time.Second}))
	// Five cells pause 0.1 s each; 8 rounds.
	if want := 8 * (1400 + 500) * time.Millisecond; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	p.Protocol.PauseNS, p.Protocol.Blocks = int64(time.Hour), 100_000_000
	if got := p.Estimate(lives(nil)); got <= 0 {
		t.Errorf("overflow: %s", got)
	}
}

// A large matrix: every id is unique, and so is every environment.
func TestIDsAreUnique(t *testing.T) {
	p := mustExpand(t, seven("[hello]", `environments:
- engine: [docker, podman, oci, apptainer, charliecloud, fake]
  runtime: [default, runc, crun, youki, runsc, medium]
  client: [default, api, cli, steps, run]
  network: [default, none, host]
  rootless: [no, yes, default]
  seccomp: [default, off]
- engine: docker
  as: [a, b, runc]
- docker`), Options{})
	seen := map[string]bool{}
	for _, e := range envIDs(p) {
		if seen[e] {
			t.Errorf("%s twice", e)
		}
		seen[e] = true
	}
	for _, x := range p.Excluded {
		if seen[x.ID] {
			t.Errorf("%s twice", x.ID)
		}
		seen[x.ID] = true
	}
	if c := p.Counts(); c.Valid+c.Impossible != len(seen) || c.Valid < 50 || c.Impossible < 100 {
		t.Errorf("%+v, %d ids", c, len(seen))
	}
}

// Two factors with a level of the same name make longer ids.
func TestIDsOfTheSameLevels(t *testing.T) {
	cat := &Catalogue{
		Factors:   []string{"runtime", "storage"},
		Engines:   []EngineInfo{{Name: "e", Levels: map[string][]string{"runtime": {"default", "lxc"}, "storage": {"default", "lxc"}}}},
		Workloads: []WorkloadInfo{{Name: "hello"}},
	}
	s, err := Read(Source{Path: "x.yaml", Data: []byte(seven("[hello]", "environments: [{engine: e, runtime: lxc}, {engine: e, storage: lxc}]"))}, cat)
	require.NoError(t, err)
	p, err := Expand(s, cat, Options{})
	require.NoError(t, err)
	want := []string{"e/runtime=lxc", "e/storage=lxc"}
	if got := envIDs(p); !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func BenchmarkPlan100k(b *testing.B) {
	cat := catalogue()
	var axes strings.Builder
	for i, f := range cat.Factors[:5] {
		fmt.Fprintf(&axes, "  %s: [", f)
		var levels []string
		for l := range 10 {
			levels = append(levels, fmt.Sprintf("f%dl%d", i, l))
		}
		axes.WriteString(strings.Join(levels, ", ") + "]\n")
		for e := range cat.Engines {
			if cat.Engines[e].Name == "docker" {
				cat.Engines[e].Levels[f] = levels
			}
		}
	}
	text := seven("[hello]", "environments:\n- engine: docker\n"+axes.String())
	s, err := Read(Source{Path: "x.yaml", Data: []byte(text)}, cat)
	require.NoError(b, err)
	opts := Options{Usable: func(_ string, l map[string]string) (bool, string, string) { return l["runtime"] != "f0l3", "no", "" }}
	for b.Loop() {
		p, err := Expand(s, cat, opts)
		require.NoError(b, err)
		if c := p.Counts(); c.Valid+c.Unavailable != 100_003 {
			b.Fatal(c)
		}
		p.Trial(0)
	}
}

// A study can leave its number of blocks open; whoever extends it by a number
// fixes it again.
func TestOpenNumberOfBlocks(t *testing.T) {
	const text = "plimsoll: 1\nname: t\nworkloads: [hello]\nenvironments: [docker]\nprotocol: "
	for in, want := range map[string]record.Protocol{
		"{blocks: 7}":                 {Blocks: 7},
		"{blocks: 7, until: 2%}":      {Blocks: DefaultMaxBlocks, Until: 0.02},
		"{until: 2%, max-blocks: 30}": {Blocks: 30, Until: 0.02},
		"{time-budget: 10m}":          {Blocks: maxBlocksInTime, TimeBudgetNS: int64(10 * time.Minute)},
		"{until: 2%, time-budget: 1m30s, max-blocks: 100000}": {Blocks: 100_000, Until: 0.02, TimeBudgetNS: int64(90 * time.Second)},
	} {
		got := mustRead(t, text+in+"\n").Protocol
		if got.Blocks != want.Blocks || got.Until != want.Until || got.TimeBudgetNS != want.TimeBudgetNS {
			t.Errorf("%s: %+v", in, got)
		}
	}
	dir := t.TempDir()
	write(t, dir, "base.yaml", text+"{until: 2%}\n")
	for in, want := range map[string]record.Protocol{"{warmup: 2}": {Blocks: DefaultMaxBlocks, Until: 0.02}, "{blocks: 5}": {Blocks: 5}} {
		s, err := Load(write(t, dir, "x.yaml", "plimsoll: 1\nname: x\nextends: ./base.yaml\nprotocol: "+in+"\n"), catalogue())
		if err != nil || s.Protocol.Blocks != want.Blocks || s.Protocol.Until != want.Until {
			t.Errorf("extended by %s: %v %+v", in, err, s.Protocol)
		}
	}
}

// An environment is marked where one of its levels was never run on the real
// system, and no other of the same engine is.
func TestUntriedLevels(t *testing.T) {
	cat := catalogue()
	i := slices.IndexFunc(cat.Engines, func(e EngineInfo) bool { return e.Name == "docker" })
	cat.Engines[i].Untried = map[string][]string{"runtime": {"runsc"}}
	p, err := Expand(mustRead(t, seven("[hello]", "environments: [{engine: docker, runtime: [default, runsc]}]")), cat, Options{})
	require.NoError(t, err)
	for _, e := range p.Environments {
		if want := e.Levels["runtime"] == "runsc"; e.Unverified != want {
			t.Errorf("%s is unverified: %t", e.ID, e.Unverified)
		}
	}
}
