// Package apirun carries a container through its life by an engine's API, for
// the engines that have one, and says what came of it.
//
// It is opinionated: an adapter makes the calls and stamps before and after
// each, so that nothing of this package lies between a stamp and its request;
// what an event means, which class a failure has and what is cleared away when
// is decided here, once for all engines.
package apirun

import (
	"context"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/record"
)

// Daemon is an engine in one environment.
type Daemon interface {
	// Ping sees to it that the engine answers, over a connection that is then
	// open, and that whatever an environment listens to is still there.
	Ping(ctx context.Context) error
	// Thing is what the ledger says of a task's container; nil where it need
	// not know of it, since it goes with something else.
	Thing(task engine.Task) *engine.Thing
	// Prepare makes a container's life ready, outside of what is measured and
	// before anything is asked for, or says why there can be none.
	Prepare(ctx context.Context, task engine.Task) (Container, *record.Failure)
	// Remove kills and removes what there is of a task's container. What is not
	// there is gone.
	Remove(ctx context.Context, task engine.Task) error
	// Failure is an error of the engine's as the outcome of a trial. What is a
	// participle and its object: "creating the container".
	Failure(what string, err error) *record.Failure
}

// looker is a Daemon that is asked after a trial whether something of its
// container is still there, though its removal had returned.
type looker interface {
	Remains(ctx context.Context, task engine.Task) (bool, error)
}

// Process is a program that the engine runs: a container's payload, or one more
// program inside. It embeds a Life, which has what is not said otherwise.
type Process interface {
	// Up brings it to run, with the stamps from Request on. Before it returns
	// without an error it sees to it that End and Drain will tell, for as long
	// as stay lasts.
	Up(ctx, stay context.Context) error
	// Await waits for the end that End tells.
	Await(ctx context.Context) error
	// OOM says whether the engine tells that a payload that was killed was killed
	// for want of memory; the host's count has told nothing then.
	OOM(ctx context.Context) bool
	// Release gives back what it had beside the container (streams, a network),
	// when that has gone. The output ends with it. It is called once.
	Release(ctx context.Context) *record.Failure

	life() *Life
}

// Container is one container's life.
type Container interface {
	Process
	// Stop asks the engine to stop it. The events Stop and Stopped are around
	// it, where it does not set the latter itself.
	Stop(ctx context.Context, stop engine.Stop) error
	// Down removes the container, which has ended. It sets the event Removed,
	// where that is not its return.
	Down(ctx context.Context) error
	// Place asks where it is, once it is held.
	Place(ctx context.Context) (engine.Place, error)
	// Program is one more program in it; in is the container's place.
	Program(task engine.Task, in engine.Place) (Process, *record.Failure)
}
