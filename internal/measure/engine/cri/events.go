package cri

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	v1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"plimsoll/internal/measure/engine/apirun"
	"plimsoll/internal/measure/engine/stamp"
)

// ended is how a container's end comes to us.
type ended struct {
	at     int64
	status *v1.ContainerStatus // nil where the event did not bring it
	err    error
	// running is when a poll last saw the container run; 0 with an event.
	running int64
}

// ending is the end of a container, told to whoever asks.
type ending struct {
	apirun.End
	hurry chan struct{} // asks a poll to look at once

	// Valid when it has been told.
	status  *v1.ContainerStatus // nil where the event did not bring it
	running int64
}

func newEnding() *ending { return &ending{End: *apirun.NewEnd(), hurry: make(chan struct{}, 1)} }

// tell is called once.
func (e *ending) tell(how ended) {
	e.status, e.running = how.status, how.running
	e.Tell(how.at, int(how.status.GetExitCode()), how.err)
}

// soon says that the end must have come by now.
func (e *ending) soon() {
	select {
	case e.hurry <- struct{}{}:
	default:
	}
}

// events is a server's stream of container events, of which there is one for
// all trials of an environment: it is open before a trial begins.
type events struct {
	cancel context.CancelFunc
	done   chan struct{} // closed when the stream is over

	mu   sync.Mutex
	wait map[string]*ending
	err  error // why it is over
	// ends are the containers whose end was told while it is found out
	// whether this server tells of ends at all; nil afterwards.
	ends map[string]bool
}

// listen opens the stream. Whether the server sends anything is seen later:
// old ones refuse the call, and with others it can be switched off.
func (s *server) listen(ctx context.Context) (*events, error) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stream, err := s.runtime.GetContainerEvents(ctx, &v1.GetEventsRequest{})
	if err != nil {
		cancel()
		return nil, err
	}
	e := &events{cancel: cancel, done: make(chan struct{}), wait: map[string]*ending{}, ends: map[string]bool{}}
	go e.receive(stream)
	return e, nil
}

func (e *events) receive(stream v1.RuntimeService_GetContainerEventsClient) {
	defer close(e.done)
	for {
		m, err := stream.Recv()
		at := stamp.Now()
		if err != nil {
			e.end(err)
			return
		}
		if m.GetContainerEventType() != v1.ContainerEventType_CONTAINER_STOPPED_EVENT {
			continue
		}
		e.mu.Lock()
		c := e.wait[m.GetContainerId()]
		delete(e.wait, m.GetContainerId())
		if e.ends != nil {
			e.ends[m.GetContainerId()] = true
		}
		e.mu.Unlock()
		if c == nil {
			continue // somebody else's
		}
		end := ended{at: at}
		for _, st := range m.GetContainersStatuses() {
			if st.GetId() == m.GetContainerId() && st.GetState() == v1.ContainerState_CONTAINER_EXITED {
				end.status = st
			}
		}
		c.tell(end)
	}
}

// end tells those who still wait that nothing will come.
func (e *events) end(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if errors.Is(err, io.EOF) {
		err = errors.New("the server has closed its stream of events")
	}
	e.err = err
	for id, c := range e.wait {
		c.tell(ended{err: err})
		delete(e.wait, id)
	}
}

// await gives where the end of a container will be told, once. It must be
// called before the container is started.
func (e *events) await(id string) *ending {
	c := newEnding()
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.err != nil {
		c.tell(ended{err: e.err})
		return c
	}
	e.wait[id] = c
	return c
}

// told says whether the end of a container, which is over, was told too. It
// can be asked once.
func (e *events) told(id string, within time.Duration) bool {
	deadline := time.Now().Add(within)
	for {
		e.mu.Lock()
		told := e.ends[id]
		if over := told || e.err != nil || time.Now().After(deadline); over {
			e.ends = nil
			e.mu.Unlock()
			return told
		}
		e.mu.Unlock()
		time.Sleep(5 * time.Millisecond)
	}
}

func (e *events) forget(id string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.wait, id)
}

// alive says whether the stream is still open.
func (e *events) alive() bool {
	select {
	case <-e.done:
		return false
	default:
		return true
	}
}

func (e *events) close() {
	e.cancel()
	<-e.done
}

// why is the reason for which there are no events, in few words.
func (e *events) why() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.err == nil:
		return "the server sends none"
	case status.Code(e.err) == codes.Unimplemented:
		return "the server has no GetContainerEvents"
	}
	return words(e.err)
}
