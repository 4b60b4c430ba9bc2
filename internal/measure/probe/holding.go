package probe

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Holding is a job that is held: it runs until End hands over its last
// commands, those that stop and remove the container. The launcher serves
// nothing else meanwhile.
type Holding struct {
	l   *Launcher
	job Job
	seq uint64

	ready, over, done chan struct{}
	looked            chan struct{} // one for each state that came

	mu    sync.Mutex
	state *JobResult // the last one
	err   error      // valid, with state, once done is closed
	end   sync.Once
}

// Hold begins a job that does not end before End. Its Limit means nothing:
// the caller waits for Ready as long as it likes, and calls Abort.
func (l *Launcher) Hold(job Job) (*Holding, error) {
	if l.dead != nil {
		return nil, fmt.Errorf("holding a job: %w", l.dead)
	}
	job.held, job.Limit, job.env = true, maxDuration, l.env
	l.seq++
	frame, err := appendJob(nil, &job, l.seq)
	if err != nil {
		return nil, fmt.Errorf("holding a job: %w", err)
	}
	h := &Holding{l: l, job: job, seq: l.seq, state: &JobResult{}, ready: make(chan struct{}), over: make(chan struct{}),
		done: make(chan struct{}), looked: make(chan struct{}, 1)}
	if err := l.send(frame); err != nil {
		l.dead = l.death(err)
		return nil, fmt.Errorf("holding a job: %w", l.dead)
	}
	go h.read()
	return h, nil
}

// Ready is closed when the payload's first byte has come.
func (h *Holding) Ready() <-chan struct{} { return h.ready }

// Over is closed when nothing of the job runs any more: the container has
// ended by itself, or did not start.
func (h *Holding) Over() <-chan struct{} { return h.over }

// read takes what the launcher says until the job has ended.
func (h *Holding) read() {
	defer close(h.done)
	ready, over := false, false
	for {
		kind, err := h.one()
		switch {
		case err != nil:
			h.mu.Lock()
			h.err = h.l.death(err)
			h.mu.Unlock()
		case !ready && h.last().Ready != 0:
			ready = true
			close(h.ready)
		}
		ended := err != nil || kind == frameResult
		if !over && (ended || h.last().over) {
			over = true
			close(h.over)
		}
		if ended {
			return
		}
		select {
		case h.looked <- struct{}{}:
		default:
		}
	}
}

func (h *Holding) one() (kind uint16, err error) {
	head, body, err := h.l.receive(time.Time{})
	if err != nil {
		return 0, err
	}
	if head.kind != frameResult && head.kind != frameState || head.seq != h.seq {
		return 0, errFrame
	}
	res, aborted, err := decodeResult(body)
	if err != nil {
		return 0, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.state = res
	res.Killed = res.Killed || aborted
	return head.kind, nil
}

func (h *Holding) last() *JobResult {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.state
}

// State is the job's course so far; once it has ended, its result.
func (h *Holding) State(ctx context.Context) (*JobResult, error) {
	select {
	case <-h.looked: // of an earlier state
	default:
	}
	b := appendHeader(nil, frameLook, h.seq)
	finishFrame(b)
	if err := h.l.send(b); err == nil {
		select {
		case <-h.looked:
		case <-h.done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.state, h.err
}

// End adds the last commands of the job, which may be none, and waits for its
// result. limit is theirs. When ctx ends, everything is killed, as by Abort.
// For the second time it gives the same again.
func (h *Holding) End(ctx context.Context, limit time.Duration, cmds []Command) (*JobResult, error) {
	job := h.job
	job.Limit, job.Commands = limit, cmds
	job.env = h.l.env
	b, err := appendEnd(nil, &job, len(h.job.Commands), h.seq)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("ending a held job: %w", err), h.abort())
	}
	h.end.Do(func() { _ = h.l.send(b) }) // where this fails, so does the read
	limit, cleanup, _ := job.limits()
	return h.wait(ctx, limit+cleanup+runPatience)
}

// Abort kills everything of the job, but for commands marked Always, and
// waits for its result.
func (h *Holding) Abort(ctx context.Context) (*JobResult, error) {
	if err := h.abort(); err != nil {
		return nil, err
	}
	_, cleanup, _ := h.job.limits()
	return h.wait(ctx, cleanup+runPatience)
}

func (h *Holding) abort() error {
	b := appendHeader(nil, frameAbort, h.seq)
	finishFrame(b)
	return h.l.send(b)
}

// wait waits for the result; a launcher that does not give it in time is ended.
func (h *Holding) wait(ctx context.Context, patience time.Duration) (*JobResult, error) {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-h.done:
	case <-ctx.Done():
		_ = h.abort() // where this fails, so does the read
		select {
		case <-h.done:
		case <-timer.C:
		}
	case <-timer.C:
	}
	select {
	case <-h.done:
	default: // it is stuck
		_ = h.l.answers.SetReadDeadline(time.Unix(1, 0))
		<-h.done
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.err != nil {
		return nil, fmt.Errorf("holding a job: %w", h.err)
	}
	return h.state, nil
}
