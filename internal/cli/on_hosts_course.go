//go:build linux

package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/fleet"
	"plimsoll/internal/measure/run"
)

// outcome is how a host has ended.
type outcome struct {
	status Status // of the run there, Done where nothing else is known
	sum    run.Summary
	open   bool // it was interrupted, or goes on
	err    error
	advice string
	note   string // what is to be said besides
}

func (o *outcome) text() string {
	s := "done"
	switch {
	case o.err != nil:
		s = strings.TrimSpace(o.err.Error())
	case o.open:
		s = "interrupted"
	}
	if o.sum.Trials > 0 || o.err == nil {
		s += fmt.Sprintf("; %d trials are recorded", o.sum.Trials)
	}
	if o.sum.Failed > 0 {
		s += fmt.Sprintf(", %d failed", o.sum.Failed)
	}
	if o.note != "" {
		s += "; " + o.note
	}
	return s
}

// hostCourse is one host of a run.
type hostCourse struct {
	*fleet.Host
	r        *hostsRun
	i        int
	dir      string // of its record
	progress run.Progress
	ctx      context.Context // ends where the host is let go
	letGo    context.CancelFunc
}

func (r *hostsRun) host(i int) *hostCourse {
	a := r.ledger.Hosts[i]
	h := &hostCourse{Host: r.ssh.Host(a.Target, i, a.ID), r: r, i: i, dir: filepath.Join(r.ledger.Dir, a.Name), progress: r.progress.Of(i)}
	h.ctx, h.letGo = context.WithCancel(context.Background())
	return h
}

// note changes the account of the host.
func (h *hostCourse) note(change func(*fleet.HostAccount)) error {
	h.r.mu.Lock()
	defer h.r.mu.Unlock()
	change(&h.r.ledger.Hosts[h.i])
	return h.r.ledger.Write()
}

func (h *hostCourse) account() fleet.HostAccount {
	h.r.mu.Lock()
	defer h.r.mu.Unlock()
	return h.r.ledger.Hosts[h.i]
}

// course takes a host from whatever it is to the end of its run.
func (h *hostCourse) course() (o outcome) {
	defer h.letGo()
	defer h.Close(context.WithoutCancel(h.ctx))
	over, err := h.measure()
	o.err = err
	status, sum, rerr := recorded(h.dir)
	o.sum = sum
	if o.err == nil {
		o.err = rerr
	}
	if e, ok := errors.AsType[*fleet.Error](o.err); ok {
		o.err, o.advice = errors.New(e.What), e.Advice
	}
	if over == nil {
		o.open = o.err == nil && status != "done"
		if o.open {
			o.note = "the run goes on there"
		}
		return o
	}
	switch {
	case over.Exit == int(Done), over.Exit == int(SomeFailed), over.Cut && status == "done":
	case over.Cut:
		o.err = errors.New("the run was killed there, or the host has been started anew")
	case over.Exit == int(Interrupted):
		o.open = true
	case o.err == nil:
		o.err = fmt.Errorf("the run has failed there: %s", lastWords(h.log()))
		o.advice = "its log is " + shortPath(h.log())
	}
	if err := h.finished(); err != nil {
		become := ""
		if h.Become {
			become = " --become"
		}
		o.note = said(err) + "; plimsoll clean --on " + h.Target.String() + become + " removes it"
	}
	return o
}

// log is what the run there has printed.
func (h *hostCourse) log() string { return h.dir + ".log" }

// finished takes everything away there, once the record is here; over another
// connection where one is lost.
func (h *hostCourse) finished() (err error) {
	ctx := context.WithoutCancel(h.ctx)
	for range mostTries {
		if err = h.Fetched(ctx); err == nil {
			err = h.Remove(ctx)
		}
		if err == nil {
			return h.note(func(a *fleet.HostAccount) { a.Brought, a.Begun = false, false })
		}
		if !fleet.IsLost(err) {
			return err
		}
		h.Close(ctx)
	}
	return err
}

// measure brings the run there and follows it; nil where it was let go.
func (h *hostCourse) measure() (*fleet.Over, error) {
	if status, _, err := recorded(h.dir); err != nil {
		return nil, err
	} else if status == "done" && !h.account().Brought {
		return nil, nil
	}
	if err := h.r.finish.Err(); err != nil {
		return nil, errors.New("interrupted before it began")
	}
	h.progress.Step("connecting")
	found, err := h.Probe(h.ctx)
	if err != nil {
		return nil, err
	}
	if found.Ours && h.account().Begun {
		over, err := h.follow()
		if over == nil || err != nil {
			return over, err
		}
		if status, _, _ := recorded(h.dir); status == "done" {
			return over, nil
		}
	}
	if err := h.begin(found); err != nil {
		return nil, err
	}
	return h.follow()
}

// begin copies program and study, and starts the run there.
func (h *hostCourse) begin(found *fleet.Found) error {
	if !found.Root && !h.Become {
		h.progress.Remark(fmt.Sprintf("the run is of the user %s there: what needs root is not measured (--become becomes root by sudo)", found.User))
	}
	program, err := h.fitting(found)
	if err != nil {
		_ = h.Discard(context.WithoutCancel(h.ctx)) // folders that are empty; it is told what is in the way
		return err
	}
	h.r.copying <- struct{}{}
	defer func() { <-h.r.copying }()
	h.progress.Step("copying the program")
	if err := h.note(func(a *fleet.HostAccount) { a.Brought = true }); err != nil {
		return err
	}
	err = h.Bring(h.ctx, found, program)
	if err == nil {
		err = h.sameVersion(program)
	}
	if err == nil {
		err = h.note(func(a *fleet.HostAccount) { a.Begun = true })
	}
	if err == nil {
		h.progress.Step("starting")
		err = h.Begin(h.ctx, h.request(), h.r.ledger.Study, h.dir)
	}
	if err != nil {
		return errors.Join(err, h.discard())
	}
	return nil
}

// fitting is the program for a host, where it could run and has room.
func (h *hostCourse) fitting(found *fleet.Found) (*fleet.Program, error) {
	arch, err := h.Arch(found)
	if err != nil {
		return nil, err
	}
	h.r.mu.Lock()
	program, err := h.r.programs.For(arch)
	h.r.mu.Unlock()
	if err != nil {
		return nil, &fleet.Error{Host: h.Name, What: err.Error(), Advice: "give a program for it: --program " + arch + "=PATH"}
	}
	return program, h.Room(found, program)
}

// discard removes what no run has begun with. Where one may have begun, whose answer
// was lost, the account says so as before: --resume follows it then.
func (h *hostCourse) discard() error {
	if err := h.Discard(context.WithoutCancel(h.ctx)); err != nil {
		return nil // it is told why the run did not begin; --resume goes on from here, and clean removes it
	}
	return h.note(func(a *fleet.HostAccount) { a.Brought, a.Begun = false, false })
}

func (h *hostCourse) request() fleet.Request {
	q := fleet.Request{Args: h.r.ledger.Args, For: hostName() + ":" + h.r.ledger.Dir}
	if !holdsRun(h.dir) {
		return q
	}
	// A run that is gone on with has its study in the record.
	q.Resume = true
	kept := []string{"--" + engine.ImageOn + "=", "--force=", "--wait="}
	q.Args = nil
	for _, arg := range h.r.ledger.Args {
		if slices.ContainsFunc(kept, func(k string) bool { return strings.HasPrefix(arg, k) }) {
			q.Args = append(q.Args, arg)
		}
	}
	return q
}

// follow fetches the record until the run there has ended, over as many connections
// as it takes; nil where it was let go.
func (h *hostCourse) follow() (*fleet.Over, error) {
	if err := h.r.ledger.HostRecord(filepath.Base(h.dir)); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(h.dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	log, err := h.r.ledger.HostLog(filepath.Base(h.log()))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	fresh := !holdsRun(h.dir)
	done := make(chan struct{})
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		h.watch(done, fresh)
	}()
	over, err := h.reconnecting(root, log)
	close(done)
	<-watched
	if h.ctx.Err() != nil {
		return nil, nil
	}
	return over, err
}

// watch tells the course of the run from its record, and hands on what the user
// wants of it.
func (h *hostCourse) watch(done <-chan struct{}, fresh bool) {
	f := newRecordFollower(h.dir, h.progress)
	f.fresh = fresh
	finish, broken := h.r.finish.Done(), h.r.broken.Done()
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-done:
			f.tick()
			return
		case <-tick.C:
			f.tick()
		case <-finish:
			finish = nil
			if letsGo(context.Cause(h.r.finish)) {
				h.letGo()
				return
			}
			f.tick()
			if f.last.Done == 0 { // it may be opening environments, or be in its first trial
				h.progress.Remark("no trial is recorded yet: ending before the first one, or after it; Ctrl-C again breaks that off")
			} else {
				h.progress.Remark("ending after the trial in flight; Ctrl-C again breaks that off")
			}
			h.stop()
		case <-broken:
			broken = nil
			h.stop()
		}
	}
}

// said is an error of a host without the host's name, which stands before the line.
func said(err error) string {
	if e, ok := errors.AsType[*fleet.Error](err); ok {
		return e.What
	}
	return err.Error()
}

// stop asks the run there to end.
func (h *hostCourse) stop() {
	if err := h.Stop(h.ctx); err != nil {
		h.progress.Remark(said(err))
	}
}

// The pauses between attempts to reach a host again.
const (
	shortestPause = time.Second
	longestPause  = 30 * time.Second
)

// mostTries is how often what has not arrived as it was sent is fetched again, and
// how often a host is told that it has.
const mostTries = 3

// reconnecting follows the run, again where the connection was lost.
func (h *hostCourse) reconnecting(root *os.Root, log *os.File) (*fleet.Over, error) {
	pause, torn := shortestPause, 0
	var lost time.Time
	for {
		begun := time.Now()
		over, err := h.Follow(h.ctx, root, log)
		switch {
		case err == nil, h.ctx.Err() != nil:
			return over, err
		case over != nil && torn < mostTries:
			torn++
			continue
		case !fleet.IsLost(err):
			return nil, err
		}
		if lost.IsZero() || time.Since(begun) > longestPause {
			lost, pause = time.Now(), shortestPause
			h.progress.Remark(said(err) + "; the run goes on there, and is picked up again")
		}
		if time.Since(lost) > h.r.asked.hosts.lost {
			return nil, h.givenUp(err)
		}
		h.Close(h.ctx) // a connection that is dead would be used again
		select {
		case <-time.After(pause):
		case <-h.ctx.Done():
			return nil, nil
		case <-h.r.broken.Done():
			return nil, h.givenUp(err)
		}
		pause = min(2*pause, longestPause)
	}
}

// givenUp is the error of a host that could not be reached again.
func (h *hostCourse) givenUp(err error) error {
	if e, ok := errors.AsType[*fleet.Error](err); ok {
		return &fleet.Error{Host: e.Host, What: e.What, Advice: "the run may go on there: plimsoll run --resume " + shortPath(h.r.ledger.Dir) + " picks it up", Lost: true, Err: err}
	}
	return err
}
