package adapter

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"time"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/image"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/record"
)

// proveLimit is how long the first container of an environment may take: it
// meets cold caches, on a machine that may be a small board or an emulated one.
const proveLimit = time.Minute

// Prove runs one container with the payload and gives what it saw from
// inside: how an adapter shows, at the end of its Open, that the environment
// works. The error is an *engine.Error.
func Prove(ctx context.Context, kit *engine.Kit, env engine.Environment, id string) (probe.Payload, error) {
	p, _, err := ProveResult(ctx, kit, env, id)
	return p, err
}

// proofs is how many first containers an environment has at most.
const proofs = 3

// ProveResult is Prove for those who also want to see what the engine said. One whose
// answer is missing, or that the engine refuses, is followed by another: ctr and LXD's
// client now and then lose what a short program prints, and youki fails in some starts of
// a thousand. A trial that this happens to fails; all of an environment's are not given up
// for it. What came before the time was up is told, since that says more.
func ProveResult(ctx context.Context, kit *engine.Kit, env engine.Environment, id string) (probe.Payload, engine.Result, error) {
	p, res, err := proveOnce(ctx, kit, env, id)
	for n := 1; n < proofs && passing(err); n++ {
		q, again, aerr := proveOnce(ctx, kit, env, id)
		if aerr != nil && ctx.Err() != nil {
			break
		}
		p, res, err = q, again, aerr
	}
	return p, res, err
}

// passing says whether the next container may do better.
func passing(err error) bool {
	e, ok := errors.AsType[*engine.Error](err)
	return ok && (e.Class == record.EngineError || e.Class == record.NoProof)
}

func proveOnce(ctx context.Context, kit *engine.Kit, env engine.Environment, id string) (probe.Payload, engine.Result, error) {
	args := probe.PayloadArgs{Word: Word(), Report: true}
	task := engine.Task{Name: Name(kit.RunID, id, "open-"+Word()[:6]), Limit: proveLimit, Argv: args.Argv(image.ProbePath)}
	res, err := env.Run(ctx, task)
	if err != nil {
		return probe.Payload{}, res, err
	}
	if f := res.Failure; f != nil {
		return probe.Payload{}, res, &engine.Error{Class: f.Class, Text: "a first container fails here: " + f.Text}
	}
	p, err := probe.ParsePayload(res.Stdout, args.Word)
	if err != nil {
		class := record.NoProof
		if !errors.Is(err, probe.ErrNoProof) {
			class = record.BadOutput
		}
		e := &engine.Error{Class: class, Text: "a first container does not answer as it should", Err: err}
		if said := Words(res.Stderr); said != "" {
			e.Text += ": " + said
		}
		return probe.Payload{}, res, e
	}
	if k, ok := env.(interface {
		Keep(report map[string]string)
	}); ok {
		k.Keep(p.Report)
	}
	return p, res, nil
}

// Word is a random word for a trial.
func Word() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// Name makes a container's name of its parts: only [a-z0-9-], at most 60 long. What
// would be longer ends in a digest of it all: ids of environments may differ in their
// middle alone, and two that shared a directory or a control group would undo each other.
// Before the digest there is one dash: containerd refuses a name with two in a row.
func Name(runID string, parts ...string) string {
	s := "plimsoll-" + runID
	for _, p := range parts {
		s += "-" + p
	}
	out := []byte(s)
	for i, c := range out {
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9':
		case c >= 'A' && c <= 'Z':
			out[i] = c + 'a' - 'A'
		default:
			out[i] = '-'
		}
	}
	if len(out) > 60 {
		sum := sha256.Sum256([]byte(s))
		return string(bytes.TrimRight(out[:47], "-")) + "-" + hex.EncodeToString(sum[:6])
	}
	return string(out)
}

// OnlyLoopback says why nobody reaches a container whose payload saw no network
// interface but the loopback, whatever address the engine tells; "" where it saw
// another one, or could not look. A runtime with a network stack of its own
// (gVisor) may be told to leave the container's network alone.
func OnlyLoopback(inside map[string]string) string {
	if inside["net.names"] != "lo" {
		return ""
	}
	return "inside it there is no network interface but the loopback, whatever address the engine tells"
}
