package run

import (
	"context"
	"fmt"
	"net"
	"time"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/study"
	"plimsoll/internal/measure/workload"
	"plimsoll/internal/record"
)

// served is a server, executed in a container that was created and started by
// commands of their own, and asked from the host until it answers.
type served struct {
	*site
	serve workload.Serve
}

func (s served) watched(asked bool) bool { return asked }

// answerLimit is for how long a server that runs is asked.
const answerLimit = 10 * time.Second

func (s served) trial(ctx context.Context, p study.Trial, o *openEnv) (*record.Trial, engine.Result, error) {
	if o.rec.Levels[engine.Network] == "none" {
		t := begun(p, o)
		s.refuse(t, "a container without a network has no port that could be published (network=none)")
		return t, engine.Result{}, nil
	}
	port, err := freePort()
	if err != nil {
		t := begun(p, o)
		t.Failure = &record.Failure{Class: record.HarnessError, Text: err.Error()}
		return t, engine.Result{}, nil
	}
	word := newWord()
	var took time.Duration
	asked := fmt.Errorf("%s has not let the host ask", o.rec.ID)
	task := engine.Task{
		Argv: s.serve.Argv(word), Publish: &engine.Publish{Inside: workload.ServerPort, Host: port},
		Then: func(ctx context.Context) { took, asked = firstAnswer(ctx, port, word, answerLimit) },
	}
	t, res, err := s.commanded(ctx, p, o, task, s.serve.Output(word))
	switch {
	case err != nil || !t.OK():
	case ctx.Err() != nil:
		return nil, res, ctx.Err() // broken off by the user: no result
	case asked != nil:
		t.Failure = &record.Failure{Class: record.NoProof, Text: asked.Error()}
	default:
		t.Values = map[string]float64{workload.FirstResponse: float64(took)}
	}
	return t, res, err
}

// freePort is a port of 127.0.0.1 at which nobody listened a moment ago.
func freePort() (int, error) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("finding a free port: %w", err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil //nolint:forcetypeassert // it listens by TCP
}
