package cri

import (
	"context"

	v1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"plimsoll/internal/engine"
	"plimsoll/internal/record"
)

// peer is a pod that stays while others talk to it.
type peer struct {
	life *life
	// Address is the pod's, as the server gives it: an address of its own, or
	// empty where it shares the host's network.
	Address string
}

// serve brings a pod up and leaves it running. The task's limit is for
// bringing it up, and for taking it away again. The caller must call end.
func (env *environment) serve(ctx context.Context, task engine.Task) (*peer, error) {
	if f := env.ready(ctx); f != nil {
		return nil, &engine.Error{Class: f.Class, Text: f.Text}
	}
	p := &peer{life: env.life(task)}
	up, cancel := context.WithTimeout(ctx, p.life.task.Limit)
	defer cancel()
	err := p.life.prepare()
	if err == nil {
		err = p.life.up(up)
	}
	if err == nil {
		p.life.watch(ctx) // which goes on after this call
		p.Address, err = env.s.address(up, p.life.pod)
	}
	if err == nil {
		return p, nil
	}
	res, left := p.life.settle(up, err)
	if left {
		env.left = append(env.left, task.Name)
	}
	return nil, &engine.Error{Class: res.Failure.Class, Text: res.Failure.Text}
}

// ready is closed when the pod has said its first byte.
func (p *peer) ready() <-chan struct{} { return p.life.log.out.Ready() }

// end stops the pod and takes it away; the result is that of a trial that was
// stopped.
func (env *environment) end(ctx context.Context, p *peer) engine.Result {
	l := p.life
	if l.task.Stop == nil {
		l.task.Stop = &engine.Stop{}
	}
	ctx, cancel := context.WithTimeout(ctx, l.task.Limit+l.task.Stop.Grace)
	defer cancel()
	var err error
	select {
	case e := <-l.end:
		l.end = again(e)
		if err = e.err; err == nil {
			err = &engine.Error{Class: record.Crash, Text: "the pod ended by itself"}
		}
	default:
		err = l.stop(ctx, closed(), l.task.Stop.Grace)
	}
	if err == nil {
		err = l.wait(ctx)
	}
	if err == nil {
		err = l.down(ctx)
	}
	res, left := l.settle(ctx, err)
	if left {
		env.left = append(env.left, l.task.Name)
	}
	return res
}

// address is a pod's own.
func (s *server) address(ctx context.Context, pod string) (string, error) {
	r, err := s.runtime.PodSandboxStatus(ctx, &v1.PodSandboxStatusRequest{PodSandboxId: pod})
	if err != nil {
		return "", s.wrong("asking for the pod's address", err)
	}
	return r.GetStatus().GetNetwork().GetIp(), nil
}

// RunPair runs two pods at once, of which the second needs the first one's
// address: once the server has said its first byte, the client that is made of
// the address has its whole life, and then the server is stopped. The
// client's request comes after all that belongs to the server.
func (env *environment) RunPair(ctx context.Context, server engine.Task, client func(address string) engine.Task) (served, asked engine.Result, err error) {
	p, err := env.serve(ctx, server)
	if err != nil {
		return served, asked, err
	}
	select {
	case <-p.ready():
		asked, err = env.Run(ctx, client(p.Address))
	case e := <-p.life.end:
		p.life.end = again(e)
		asked.Failure = &record.Failure{Class: record.Crash, Text: "the server's pod ended before it had said anything"}
	case <-ctx.Done():
		err = ctx.Err()
	}
	return env.end(context.WithoutCancel(ctx), p), asked, err
}

func closed() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

// again tells an end once more.
func again(e ended) <-chan ended {
	c := make(chan ended, 1)
	c <- e
	return c
}
