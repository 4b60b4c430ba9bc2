package cri

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
	v1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"plimsoll/internal/measure/engine/stamp"
	"plimsoll/internal/measure/host/proc"
)

// Where there are no events, the end of a container is asked for. Each question
// costs the server and the shim half a millisecond of processor time, which a
// benchmark on the same machine would pay for: every 2 ms, that took a seventh of
// two processors. So only a young container is asked after often. Of an older
// one its process is watched, which costs nothing, and the server is asked again
// when that has ended; where the process can't be known, it is asked after ever
// more rarely, so that an end is told a twentieth of the life late at most.
const (
	endPeriod = 2 * time.Millisecond
	endYoung  = 100 * time.Millisecond
	endShare  = 20 // of the life so far is the period of an older one
	// endRarely is for a container that is held, and disturbs others, and for one
	// whose process is watched.
	endRarely = 250 * time.Millisecond
)

func pollFact(why string) string {
	return fmt.Sprintf("poll of ContainerStatus every %v, once it has run for %v at the end of its process (%s)", endPeriod, endYoung, why)
}

// endPoll finds out when one container has ended.
type endPoll struct {
	s     *server
	id    string
	held  bool
	hurry <-chan struct{} // asks to look at once

	gone <-chan struct{} // closed when the container's process has ended
}

// pollEnd asks until the container has ended.
func (p *endPoll) pollEnd(ctx context.Context) ended {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var running int64
	began := time.Now()
	for old := false; ; {
		age := time.Since(began)
		if !old && age > endYoung {
			old, p.gone = true, p.watch(ctx)
		}
		asked := stamp.Now()
		r, err := p.s.runtime.ContainerStatus(ctx, &v1.ContainerStatusRequest{ContainerId: p.id})
		at := stamp.Now()
		if err != nil {
			return ended{err: err}
		}
		if st := r.GetStatus(); st.GetState() == v1.ContainerState_CONTAINER_EXITED {
			return ended{at: at, status: st, running: running}
		}
		running = asked
		select {
		case <-p.gone:
			p.gone, began = nil, time.Now() // young again
		case <-p.hurry:
			began = time.Now()
		case <-ctx.Done():
			return ended{err: ctx.Err()}
		case <-time.After(p.period(age)):
		}
	}
}

// period is the time until the next question, for a container that has run for age.
func (p *endPoll) period(age time.Duration) time.Duration {
	switch {
	case age <= endYoung:
		return endPeriod
	case p.held || p.gone != nil:
		return endRarely
	}
	return min(age/endShare, endRarely)
}

// watch returns what is closed when the container's process has ended, or nil
// where that can't be known: the server doesn't tell its number, or it is one of
// another PID namespace than ours, or of another kernel.
func (p *endPoll) watch(ctx context.Context) <-chan struct{} {
	r, err := p.s.runtime.ContainerStatus(ctx, &v1.ContainerStatusRequest{ContainerId: p.id, Verbose: true})
	if err != nil {
		return nil
	}
	var info struct{ PID int }
	if json.Unmarshal([]byte(r.GetInfo()["info"]), &info) != nil || info.PID <= 1 {
		return nil
	}
	fd, err := unix.PidfdOpen(info.PID, unix.PIDFD_NONBLOCK)
	if err != nil {
		return nil
	}
	process := os.NewFile(uintptr(fd), "pidfd")
	if !inGroup(info.PID, p.id) { // looked at with the process in hand
		_ = process.Close()
		return nil
	}
	context.AfterFunc(ctx, func() { _ = process.Close() })
	gone := make(chan struct{})
	go func() {
		c, err := process.SyscallConn()
		if err != nil {
			return
		}
		first := true
		if c.Read(func(uintptr) bool { was := first; first = false; return !was }) == nil { // readable: it has ended
			close(gone)
		}
	}()
	return gone
}

// inGroup says whether a process is in a control group of the container's: servers
// name it after the container's id.
func inGroup(pid int, container string) bool {
	groups, err := proc.Here.Groups(proc.PID(pid))
	return err == nil && slices.ContainsFunc(groups, func(g proc.Group) bool { return strings.Contains(g.Path, container) })
}
