package study

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"plimsoll/internal/record"
)

const ordered = `plimsoll: 1
name: t
protocol: {blocks: 4, warmup: 2, per-block: 3, seed: 42}
workloads: [hello, stop]
environments: [docker, {engine: podman, rootless: [no, yes]}]
`

// The order that a seed gives is a promise: it may never change, or no run
// could be repeated or resumed. A failure here is to be repaired in the code,
// not in the test.
func TestOrderIsForEver(t *testing.T) {
	p := &Plan{
		Protocol:     record.Protocol{Blocks: 2, Warmup: 1, PerBlock: 2, Seed: 42, Order: "random"},
		Environments: make([]record.Environment, 3), Workloads: make([]record.Workload, 1),
		Cells: []Cell{{Env: 0}, {Env: 1}, {Env: 2}},
	}
	var got []string
	for trial := range p.From(0) {
		got = append(got, fmt.Sprintf("%d%c", trial.Cell, 'a'+trial.Repetition))
	}
	const want = "1b 2a 1a 2b 0a 0b 2a 2b 1b 1a 0b 0a 1a 0b 2a 2b 0a 1b"
	if s := strings.Join(got, " "); s != want {
		t.Errorf("seed 42 gives\n%s, want\n%s", s, want)
	}
	p.Protocol.Seed = MaxSeed
	p.Protocol.PerBlock = 1000
	sum := 0
	for i, slot := range p.order(7) {
		sum = (sum*31 + i ^ int(slot)) % 1_000_000_007
	}
	if sum != 474242057 {
		t.Errorf("the digest of a large block is %d", sum)
	}
}

func TestEveryBlockHasEveryCell(t *testing.T) {
	p := mustExpand(t, ordered, Options{})
	if got, want := p.Trials(), len(p.Cells)*3*6; got != want || len(p.Cells) != 9 {
		t.Fatalf("%d trials of %d cells, want %d", got, len(p.Cells), want)
	}
	type key struct{ block, cell, repetition int }
	seen := map[key]int{}
	for trial := range p.From(0) {
		seen[key{trial.Block, trial.Cell, trial.Repetition}]++
		if trial.Warmup != (trial.Block < 2) {
			t.Errorf("trial %d in block %d: warm-up %v", trial.Seq, trial.Block, trial.Warmup)
		}
		if c := p.Cells[trial.Cell]; trial.Env != &p.Environments[c.Env] || trial.Workload != &p.Workloads[c.Workload] {
			t.Errorf("trial %d has another environment or workload than its cell", trial.Seq)
		}
	}
	for block := range 6 {
		for cell := range p.Cells {
			for r := range 3 {
				if n := seen[key{block, cell, r}]; n != 1 {
					t.Errorf("block %d has cell %d, repetition %d, %d times", block, cell, r, n)
				}
			}
		}
	}
}

// Trial is a pure function: asked for in any order it gives the same.
func TestTrialIsPure(t *testing.T) {
	p, q := mustExpand(t, ordered, Options{}), mustExpand(t, ordered, Options{})
	for i := range p.Trials() {
		seq := (i * 37) % p.Trials()
		a, b := p.Trial(seq), q.Trial(seq)
		if a.Cell != b.Cell || a.Repetition != b.Repetition || a.Block != b.Block {
			t.Fatalf("trial %d: %+v, then %+v", seq, a, b)
		}
	}
	other := mustExpand(t, strings.Replace(ordered, "seed: 42", "seed: 43", 1), Options{})
	same := 0
	for i := range p.Trials() {
		if p.Trial(i).Cell == other.Trial(i).Cell {
			same++
		}
	}
	if same > p.Trials()/2 {
		t.Errorf("another seed leaves %d of %d trials in their place", same, p.Trials())
	}
}

// Over many blocks every cell comes in every place equally often. The seed is
// fixed, so the test always says the same: chi-square with 63 degrees of
// freedom (the margins leave 7 × 7 free, so this is generous) stays below its
// 99.9 % point.
func TestOrderIsFair(t *testing.T) {
	const n, blocks = 8, 4000
	p := &Plan{Protocol: record.Protocol{PerBlock: 1, Seed: 7, Order: "random"}, Cells: make([]Cell, n)}
	var count [n][n]float64
	follows := 0
	for b := range blocks {
		slots := p.order(b)
		for place, slot := range slots {
			count[place][slot]++
			if place > 0 && slots[place-1] == 0 && slot == 1 {
				follows++
			}
		}
	}
	chi := 0.0
	for _, row := range count {
		for _, c := range row {
			chi += (c - blocks/n) * (c - blocks/n) / (blocks / n)
		}
	}
	if chi > 103.4 {
		t.Errorf("chi-square %.1f: places are not equally likely", chi)
	}
	// 1 follows 0 in one block of n; five standard deviations are 105.
	if follows < blocks/n-105 || follows > blocks/n+105 {
		t.Errorf("cell 1 follows cell 0 in %d blocks of %d", follows, blocks)
	}
}

func TestSequential(t *testing.T) {
	p := mustExpand(t, strings.Replace(ordered, "seed: 42", "order: sequential", 1), Options{})
	for trial := range p.From(0) {
		if trial.Cell != trial.Seq%len(p.Cells) {
			t.Fatalf("trial %d is of cell %d", trial.Seq, trial.Cell)
		}
	}
}

func TestSeed(t *testing.T) {
	text := strings.Replace(ordered, "seed: 42", "seed: 0", 1)
	if s := mustExpand(t, text, Options{Seed: func() uint64 { return 1<<60 | 5 }}).Protocol.Seed; s != 5 {
		t.Errorf("seed %d, want what JSON can hold of it", s)
	}
	if s := mustExpand(t, text, Options{Seed: func() uint64 { return 1 << 60 }}).Protocol.Seed; s != 1 {
		t.Errorf("seed %d, want 1: 0 stands for none", s)
	}
	a, b := mustExpand(t, text, Options{}), mustExpand(t, text, Options{})
	if a.Protocol.Seed == b.Protocol.Seed || a.Protocol.Seed > MaxSeed {
		t.Errorf("seeds %d and %d were drawn", a.Protocol.Seed, b.Protocol.Seed)
	}
	if s := mustExpand(t, ordered, Options{}).Protocol; s.Seed != 42 || s.Algorithm != Algorithm {
		t.Errorf("%+v", s)
	}
}

func TestFromStopsWhenTold(t *testing.T) {
	p := mustExpand(t, ordered, Options{})
	var got []int
	for trial := range p.From(p.Trials() - 2) {
		got = append(got, trial.Seq)
	}
	if want := []int{p.Trials() - 2, p.Trials() - 1}; !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	for range p.From(0) {
		break
	}
}
