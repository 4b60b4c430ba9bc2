package docker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/moby/moby/client"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/private"
	"plimsoll/internal/measure/engine/progress"
	"plimsoll/internal/measure/engine/stamp"
	"plimsoll/internal/record"
)

// pullPatterns part an image that is not there from other failures.
var pullPatterns = append([]adapter.Pattern{
	{Text: "manifest unknown", Class: record.Unavailable}, {Text: "not found", Class: record.Unavailable},
	{Text: "name_unknown", Class: record.Unavailable}, {Text: "name unknown", Class: record.Unavailable},
}, patterns...)

func (env *environment) Pull(ctx context.Context, task engine.PullTask) (engine.Pulled, error) {
	ctx, cancel := context.WithTimeout(ctx, pullLimit)
	defer cancel()
	if err := env.d.ping(ctx); err != nil {
		return engine.Pulled{Failure: env.d.failure("before the pull", err)}, nil
	}
	stop, err := env.relay(task.Ref)
	if err != nil {
		return engine.Pulled{}, &engine.Error{Class: record.Unavailable, Text: "letting the private daemon reach the registry", Err: err}
	}
	if err := env.d.enter(env.kit.Ledger, engine.KindImage, task.Ref); err != nil {
		return engine.Pulled{}, errors.Join(err, stop())
	}
	var p engine.Pulled
	var said progress.Pull
	if env.byCLI {
		p, said = env.pullCLI(ctx, task.Ref)
	} else {
		p, said = env.pullAPI(ctx, task.Ref)
	}
	p.Steps = said.Steps(env.d.flavour.unpacksAlong)
	switch {
	case p.Failure != nil:
		p.Steps = nil
		if _, err := env.d.ImageInspect(ctx, task.Ref); cerrdefs.IsNotFound(err) {
			return p, errors.Join(env.d.strike(env.kit.Ledger, engine.KindImage, task.Ref), stop())
		}
	case said.Digest != task.Digest:
		p.Failure = &record.Failure{Class: record.WrongComponent,
			Text: fmt.Sprintf("the daemon says that it has pulled the digest %q, and %s was asked for", said.Digest, task.Digest)}
	}
	return p, stop()
}

// pullLimit bounds a pull.
const pullLimit = 10 * time.Minute

// relayed is the fact of a registry that is reached through a copy.
const relayed = "relayed into the daemon's network namespace"

// relay lets a daemon in a network namespace of its own reach the registry on our loopback.
func (env *environment) relay(ref string) (stop func() error, err error) {
	none := func() error { return nil }
	addr, _, _ := strings.Cut(ref, "/")
	own, isRootless := env.d.own, env.Fact("rootless") == "yes"
	switch {
	case !strings.HasPrefix(addr, "127.") || own == nil && !isRootless:
		return none, nil
	case !isRootless:
		return private.Relay(own.PID, addr)
	}
	// RootlessKit's child has the namespace; the daemon notes its pid beside
	// its socket.
	dir, name := filepath.Dir(strings.TrimPrefix(env.d.host, "unix://")), "docker.pid"
	if own != nil {
		name = "pid"
	}
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return nil, err
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return nil, err
	}
	env.AddFacts(map[string]string{"registry": relayed})
	return private.Relay(pid, addr)
}

func (env *environment) pullAPI(ctx context.Context, ref string) (p engine.Pulled, said progress.Pull) {
	defer stamp.Quiet()()
	p.Events = map[record.Event]int64{record.Request: stamp.Now()}
	resp, err := env.d.ImagePull(ctx, ref, client.ImagePullOptions{})
	if err != nil {
		p.Failure = env.pullFailure(err)
		return p, said
	}
	for m, err := range resp.JSONMessages(ctx) {
		at := stamp.Now()
		if err == nil && m.Error != nil {
			err = m.Error
		}
		if err != nil {
			p.Failure = env.pullFailure(err)
			return p, said
		}
		said.Add(at, m.ID, m.Status)
	}
	p.Events[record.Ready] = stamp.Now()
	return p, said
}

func (env *environment) pullCLI(ctx context.Context, ref string) (engine.Pulled, progress.Pull) {
	w, err := adapter.Watch(ctx, adapter.Child(env.cli.command("pull", ref), 0))
	p := engine.Pulled{Events: map[record.Event]int64{record.Request: w.Begin}, Client: w.Client}
	var said progress.Pull
	if err != nil {
		p.Failure = adapter.PullFailure(err, pullPatterns)
		return p, said
	}
	p.Events[record.Ready] = w.End
	for _, l := range w.Lines {
		said.AddLine(l.At, l.Text)
	}
	return p, said
}

func (env *environment) pullFailure(err error) *record.Failure {
	f := env.d.failure("pulling", err)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		f.Class = record.TimeOut
	case f.Class == record.EngineError:
		f.Class = adapter.Classify(err.Error(), pullPatterns)
	}
	return f
}

// Drop leaves layers that another image uses.
func (env *environment) Drop(ctx context.Context, ref string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if err := removeImage(ctx, env.d, ref); err != nil {
		return err
	}
	if _, err := env.d.ImageInspect(ctx, ref); !cerrdefs.IsNotFound(err) {
		return &engine.Error{Class: record.UncleanEnd, Text: fmt.Sprintf("the image %s is there after its removal (%v)", ref, err)}
	}
	return env.d.strike(env.kit.Ledger, engine.KindImage, ref)
}
