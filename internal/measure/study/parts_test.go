package study

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
)

const inParts = `plimsoll: 1
name: t
protocol: {blocks: 5, warmup: 2, seed: 9}
parts:
  - name: life
    workloads: [hello]
    environments:
      - docker
      - {engine: podman, storage: [overlay, vfs]}
  - name: why
    title: Why
    blocks: 2
    warmup: false
    workloads: [{name: stop, parameters: {on-term: [exit, ignore]}}]
    environments: [docker, {engine: docker, seccomp: off}]
  - name: again
    blocks: 3
    warmup: false
    workloads: [hello, stop]
    environments: [docker]
scales:
  quick:
    title: Quickly
    protocol: {blocks: 3, pause: 1s}
    parts:
      life: {environments: [charliecloud]}
      again: {skip: It is long.}
`

// cellsIn counts the trials of each cell, warm-up blocks as -1.
func cellsIn(p *Plan) map[string][]int {
	out := map[string][]int{}
	for t := range p.From(0) {
		b := t.Block - p.Protocol.Warmup
		if t.Warmup {
			b = -1
		}
		key := t.Env.ID + " " + t.Workload.ID
		out[key] = append(out[key], b)
	}
	return out
}

// The cells of all parts are one plan: each environment and each workload once,
// ids that tell them apart over all parts, and each cell in the blocks of the
// parts that have it.
func TestParts(t *testing.T) {
	p := mustExpand(t, inParts, Options{})
	// stop/exit and stop are one, since exit is what stop does by default.
	var works []string
	for _, w := range p.Workloads {
		works = append(works, w.ID)
	}
	if want := []string{"hello", "stop/exit", "stop/ignore"}; !slices.Equal(works, want) {
		t.Errorf("workloads %v, want %v", works, want)
	}
	if want := []string{"native", "floor", "host", "docker", "podman/overlay", "podman/vfs", "docker/seccomp-off"}; !slices.Equal(envIDs(p), want) {
		t.Errorf("environments %v, want %v", envIDs(p), want)
	}
	all := []int{-1, -1, 0, 1, 2, 3, 4}
	want := map[string][]int{
		"native hello": all, "floor hello": all, "host hello": all,
		"docker hello": all, "podman/overlay hello": all, "podman/vfs hello": all,
		"docker stop/exit": {0, 1, 2}, "docker stop/ignore": {0, 1},
		"docker/seccomp-off stop/exit": {0, 1}, "docker/seccomp-off stop/ignore": {0, 1},
	}
	got := cellsIn(p)
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got\n%v\nwant\n%v", got, want)
	}
	n := 0
	for _, l := range want {
		n += len(l)
	}
	if p.Trials() != n {
		t.Errorf("%d trials, want %d", p.Trials(), n)
	}
	if r := p.Study.Parts; len(r) != 3 || r[1].Title != "Why" || r[1].Blocks != 2 || !r[1].Unwarmed || !slices.Equal(r[1].Environments, []string{"docker", "docker/seccomp-off"}) || !slices.Equal(r[2].Workloads, []string{"hello", "stop/exit"}) {
		t.Errorf("%+v", r)
	}
}

// A baseline stands in the parts that have something for it; what is asked for
// by name and can't run is said.
func TestPartsBaselines(t *testing.T) {
	p := mustExpand(t, inParts, Options{})
	for _, q := range p.Study.Parts {
		if has := slices.Contains(q.Environments, "native"); has != (q.Name != "why") {
			t.Errorf("native in the part %s: %v", q.Name, has)
		}
	}
	if len(excludedIDs(p, Impossible)) != 3 { // stop in native, floor and host, in the part with hello
		t.Errorf("%v", excludedIDs(p, Impossible))
	}
}

func TestScales(t *testing.T) {
	s := mustRead(t, inParts)
	if full, err := s.At(""); err != nil || full != s {
		t.Errorf("%v, %v", full, err)
	}
	if _, err := s.At("quik"); err == nil || !strings.Contains(err.Error(), `did you mean "quick"?`) {
		t.Errorf("%v", err)
	}
	if _, err := mustRead(t, seven("[hello]", "environments: [docker]")).At("quick"); err == nil || !strings.Contains(err.Error(), "only one size") {
		t.Errorf("%v", err)
	}
	q, err := s.At("quick")
	require.NoError(t, err)
	p, err := Expand(q, catalogue(), Options{})
	require.NoError(t, err)
	if p.Study.Source != inParts {
		t.Error("the scale's record lacks the study's text")
	}
	if p.Study.Scale != "quick" || p.Study.Title != "Quickly" || p.Protocol.Blocks != 3 || p.Protocol.PauseNS != 1e9 || p.Protocol.Warmup != 2 {
		t.Errorf("%+v %+v", p.Study, p.Protocol)
	}
	if r := p.Study.Parts; r[2].Skipped != "It is long." || r[2].Environments != nil || !slices.Contains(envIDs(p), "charliecloud") || slices.Contains(envIDs(p), "podman/vfs") {
		t.Errorf("%+v in %v", r, envIDs(p))
	}
	if s.Protocol.Blocks != 5 || s.Parts[2].Skipped != "" {
		t.Error("the scale has changed the study")
	}
}

// A scale of a study without parts; what extends such a study has the scale
// too, unless the matrix is its own.
func TestScaleWithoutParts(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "base.yaml", "plimsoll: 1\nname: base\nworkloads: [hello]\nenvironments: [docker, podman]\nscales:\n  quick: {environments: [docker], workloads: [stop]}\n")
	for text, envs := range map[string][]string{
		"protocol: {blocks: 3}\n":  {"native", "floor", "host", "docker"},
		"environments: [podman]\n": nil,
		"scales:\n  quick: {environments: [podman], protocol: {blocks: 2}}\n": {"native", "floor", "host", "podman"},
	} {
		s, err := Load(write(t, dir, "over.yaml", "plimsoll: 1\nname: over\nextends: ./base.yaml\n"+text), catalogue())
		require.NoError(t, err)
		q, err := s.At("quick")
		if envs == nil {
			if err == nil {
				t.Errorf("%q has the scale of the matrix that it replaced", text)
			}
			continue
		}
		require.NoError(t, err)
		p, err := Expand(q, catalogue(), Options{})
		require.NoError(t, err)
		if !slices.Equal(envIDs(p), envs) {
			t.Errorf("%q: %v", text, envIDs(p))
		}
	}
}

// A resumed run has the same trials in the same places, and a record whose
// parts were changed is refused.
func TestPartsResume(t *testing.T) {
	p := mustExpand(t, inParts, Options{})
	if err := p.Drop("podman/vfs", "gone", ""); err != nil { // as when it can't be opened
		t.Fatal(err)
	}
	require.NoError(t, p.DropCell("docker", "stop/ignore", Unavailable, "no", ""))
	again := func() *record.Run {
		run := &record.Run{Format: record.FormatVersion, ID: "abcd1234"}
		p.Record(run)
		b, err := json.Marshal(run)
		require.NoError(t, err)
		back := &record.Run{}
		require.NoError(t, json.Unmarshal(b, back))
		return back
	}
	q, err := FromRun(again())
	require.NoError(t, err)
	if a, b := fmt.Sprint(cellsIn(p)), fmt.Sprint(cellsIn(q)); a != b || p.Trials() != q.Trials() {
		t.Errorf("before\n%s\nafter\n%s", a, b)
	}
	for i := range p.Trials() {
		if a, b := p.Trial(i), q.Trial(i); a.Cell != b.Cell || a.Block != b.Block {
			t.Fatalf("trial %d is of cell %d, then of %d", i, a.Cell, b.Cell)
		}
	}
	for name, change := range map[string]func(*record.Run){
		"blocks":       func(r *record.Run) { r.Study.Parts[1].Blocks = 3 },
		"warm-up":      func(r *record.Run) { r.Study.Parts[1].Unwarmed = false },
		"environments": func(r *record.Run) { r.Study.Parts[1].Environments = nil },
		"no parts":     func(r *record.Run) { r.Study.Parts = nil },
	} {
		r := again()
		change(r)
		if _, err := FromRun(r); err == nil {
			t.Errorf("a record with other %s was taken for the same", name)
		}
	}
}

// Every trial of a plan is found at one place, whatever the blocks of its parts.
func TestPartsPlaces(t *testing.T) {
	fewer := mustRead(t, inParts)
	fewer.Protocol.Blocks = 1 // as by --blocks: fewer than the parts'
	byOption, err := Expand(fewer, catalogue(), Options{})
	require.NoError(t, err)
	for _, p := range []*Plan{
		mustExpand(t, inParts, Options{}),
		byOption,
		mustExpand(t, strings.Replace(inParts, "warmup: 2", "warmup: 0, per-block: 3", 1), Options{}),
		// No part is in the last blocks.
		mustExpand(t, "plimsoll: 1\nname: t\nprotocol: {blocks: 6}\nparts: [{name: a, blocks: 2, warmup: false, workloads: [hello], environments: [docker]}]\n", Options{}),
	} {
		seen := map[string]int{}
		n := 0
		for trial := range p.From(0) {
			if trial.Seq != n {
				t.Fatalf("trial %d stands at %d", trial.Seq, n)
			}
			n++
			seen[fmt.Sprint(trial.Cell, trial.Block, trial.Repetition)]++
		}
		if n != p.Trials() || len(seen) != n {
			t.Errorf("%d trials, %d of them different, want %d", n, len(seen), p.Trials())
		}
		want := 0
		for _, c := range p.Cells {
			for b := range p.Protocol.Warmup + p.Protocol.Blocks {
				if c.occurs(&p.Protocol, b-p.Protocol.Warmup) {
					want += p.Protocol.PerBlock
				}
			}
		}
		if want != n {
			t.Errorf("%d trials, want %d", n, want)
		}
	}
}
