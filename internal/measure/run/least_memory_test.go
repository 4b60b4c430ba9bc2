package run

import (
	"cmp"
	"context"
	"strings"
	"testing"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/fake"
	"plimsoll/internal/record"
)

// thirsty is the fake whose containers need so much memory.
type thirsty struct {
	*fake.Fake
	need  int64
	flaky bool // each first start fails
	mute  bool // BusyBox's echo says nothing
}

func (h thirsty) Info() engine.Info {
	i := h.Fake.Info()
	i.Name = "thirsty"
	return i
}

func (h thirsty) Open(ctx context.Context, kit *engine.Kit, spec engine.Spec) (engine.Environment, error) {
	env, err := h.Fake.Open(ctx, kit, spec)
	return &thirstyEnv{Environment: env, of: h}, err
}

type thirstyEnv struct {
	engine.Environment
	of    thirsty
	tried map[int64]bool
}

func (e *thirstyEnv) LimitsMemory() bool { return true }

func (e *thirstyEnv) Run(ctx context.Context, task engine.Task) (engine.Result, error) {
	res, err := e.Environment.Run(ctx, task)
	if task.MemoryBytes == 0 {
		return res, err
	}
	if task.Argv[0] == "/bin/echo" {
		res.Stdout, res.Failure = []byte(task.Argv[1]+"\n"), nil
		if e.of.mute {
			res.Stdout = nil
		}
	}
	first := !e.tried[task.MemoryBytes]
	if e.tried == nil {
		e.tried = map[int64]bool{}
	}
	e.tried[task.MemoryBytes] = true
	if task.MemoryBytes < e.of.need || e.of.flaky && first {
		res.Failure = &record.Failure{Class: record.OutOfMemory, Text: "it was killed for its memory"}
	}
	return res, err
}

// The search ends with a bracket around what the containers need, a tenth wide
// or a page, whether or not each first start fails.
func TestLeastMemory(t *testing.T) {
	for _, c := range []struct {
		name        string
		program     string
		engine      engine.Engine
		holds       [2]int64
		fails, fail string
	}{
		{name: "much", engine: thirsty{Fake: fake.New(), need: 9 << 20}, holds: [2]int64{9 << 20, 9<<20 + 9<<20/10}, fails: "yes"},
		{name: "little", engine: thirsty{Fake: fake.New(), need: 160_000}, holds: [2]int64{160_000, 176_000}, fails: "yes"},
		{name: "flaky", engine: thirsty{Fake: fake.New(), need: 9 << 20, flaky: true}, holds: [2]int64{9 << 20, 9<<20 + 9<<20/10}, fails: "yes"},
		{name: "next to nothing", engine: thirsty{Fake: fake.New(), need: 1}, holds: [2]int64{leastTried, leastTried}},
		{name: "more than there is", engine: thirsty{Fake: fake.New(), need: 1 << 30}, fail: "not even 64 MiB were enough: it was killed for its memory"},
		{name: "busybox", program: "busybox", engine: thirsty{Fake: fake.New(), need: 9 << 20}, holds: [2]int64{9 << 20, 9<<20 + 9<<20/10}, fails: "yes"},
		{name: "busybox without its word", program: "busybox", engine: thirsty{Fake: fake.New(), mute: true}, fail: "not even 64 MiB were enough"},
		{name: "no limits", engine: fake.New(), fail: "can't give a container a memory limit of its own"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := protocolOf(t, "  - {name: least-memory, parameters: {program: "+cmp.Or(c.program, "payload")+"}}\n", "  - "+c.engine.Info().Name+"\n", c.engine)
			for _, tr := range carried(t, o) {
				if c.fail != "" {
					if tr.OK() || !strings.Contains(tr.Failure.Text, c.fail) {
						t.Errorf("%+v", tr.Failure)
					}
					continue
				}
				if !tr.OK() {
					t.Fatalf("%+v", tr.Failure)
				}
				holds, fails := int64(tr.Values["least-memory"]), int64(tr.Values["least-memory-fails"])
				if holds < c.holds[0] || holds > c.holds[1] || (fails > 0) != (c.fails != "") || fails >= holds {
					t.Errorf("it lies in [%d, %d]; %v", fails, holds, tr.Remarks)
				}
			}
		})
	}
}
