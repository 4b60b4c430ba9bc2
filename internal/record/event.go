package record

// Event names a point in the life of a trial. Its time is CLOCK_MONOTONIC of
// the host, in nanoseconds, unless the trial's clock is ClockForeign.
type Event string

// The events of a trial, in the order in which they normally occur. Not every
// engine has all of them: an engine without a separate create has no Created,
// Start and Started.
const (
	// Request is just before the request leaves us: the API call is written,
	// or the CLI's process is about to be spawned.
	Request Event = "request"
	// Sandbox is when the pod sandbox is ready, for engines that make one
	// before the container (CRI).
	Sandbox Event = "sandbox"
	// Created is when create has returned.
	Created Event = "created"
	// Start is when start is requested.
	Start Event = "start"
	// Started is when start has returned.
	Started Event = "started"
	// Init is the first instruction of the container's own init, stamped inside
	// by it, for system containers, whose payload is run by Exec (LXD, Incus, LXC).
	Init Event = "init"
	// Exec is when the payload's execution in a container that already runs is
	// requested.
	Exec Event = "exec"
	// First is the first instruction of the payload's main, stamped inside by
	// the payload itself.
	First Event = "first"
	// Ready is when the payload's first byte has reached us.
	Ready Event = "ready"
	// Done is when the payload is about to end, stamped inside.
	Done Event = "done"
	// Stop is when stop is requested.
	Stop Event = "stop"
	// Stopped is when stop has returned.
	Stopped Event = "stopped"
	// Exit is when we see that the container has ended.
	Exit Event = "exit"
	// Removed is when remove has returned. Where one call does both (docker
	// run --rm), Exit and Removed bear the same stamp, and the metric removal
	// is not available rather than 0.
	Removed Event = "removed"
)

// Events lists every event in its usual order.
var Events = []Event{Request, Sandbox, Created, Start, Started, Init, Exec, First, Ready, Done, Stop, Stopped, Exit, Removed}

// Inside says whether the event is stamped by the payload, inside the
// container, so that it is comparable only where the clock is shared.
func (e Event) Inside() bool { return e == Init || e == First || e == Done }

// Clock says whose clock the inside stamps of a trial were read from.
type Clock string

const (
	// ClockShared says that the container reads the host's CLOCK_MONOTONIC. This was
	// measured, not assumed from a name.
	ClockShared Clock = "shared"
	// ClockForeign says that the container has a clock of its own (gVisor, Kata, a time
	// namespace). First and Done can be compared with each other only.
	ClockForeign Clock = "foreign"
)
