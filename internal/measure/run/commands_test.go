package run

import (
	"context"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/fake"
	"plimsoll/internal/measure/workload"
	"plimsoll/internal/record"
)

// mute is a fake whose programs say something else, or that has no commands.
type mute struct {
	spoiled
	says string
}

func (m mute) Open(ctx context.Context, kit *engine.Kit, spec engine.Spec) (engine.Environment, error) {
	env, err := m.Fake.Open(ctx, kit, spec)
	if err != nil || m.says == "" {
		return struct{ engine.Environment }{env}, err
	}
	return muteEnv{env, m.says}, nil
}

type muteEnv struct {
	engine.Environment
	says string
}

func (e muteEnv) Commands(ctx context.Context, task engine.Task) (engine.Result, error) {
	res, err := e.Environment.(engine.Commander).Commands(ctx, task)
	res.Stdout = []byte(e.says)
	return res, err
}

// echo is three commands; each is a metric, and what the program printed is
// the proof.
func TestEcho(t *testing.T) {
	o := protocolOf(t, "  - echo\n", fakes("medium"), fake.New())
	w, err := workload.Find("echo")
	require.NoError(t, err)
	for _, tr := range carried(t, o) {
		if !tr.OK() {
			t.Fatal(tr.Failure)
		}
		value := map[string]float64{}
		for _, m := range append(w.MetricsOf(nil), record.LifeCycle...) {
			if v, ok := m.Value(&tr); ok {
				value[m.ID] = v
			}
		}
		for _, id := range []string{"create", "start-command", "exec-command"} {
			if value[id] <= 0 {
				t.Errorf("%s is %v", id, value[id])
			}
		}
		if value["create-and-start"] < value["create"]+value["start-command"] {
			t.Errorf("create and start take less than their parts: %v", value)
		}
		for _, id := range []string{"bootstrap", "execution"} {
			if _, ok := value[id]; ok {
				t.Errorf("there is a %s, though nothing was stamped inside", id)
			}
		}
	}
}

func TestEchoWithoutProof(t *testing.T) {
	for says, class := range map[string]record.Class{
		"":                             record.Unsupported,
		"Hello World\n":                record.NoProof,
		"Hello World 0123456789abcd\n": record.NoProof,
	} {
		e := mute{spoiled{Fake: fake.New(), name: "mute"}, says}
		o := protocolOf(t, "  - echo\n", "  - {engine: mute, runtime: medium}\n", e)
		for _, tr := range carried(t, o) {
			if tr.OK() || tr.Failure.Class != class {
				t.Errorf("an echo that says %q: %+v, want class %s", says, tr.Failure, class)
			}
			if class == record.Unsupported && !strings.Contains(tr.Failure.Text, "no command line") {
				t.Errorf("the refusal is %q", tr.Failure.Text)
			}
		}
	}
}
