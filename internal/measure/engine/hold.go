package engine

import "context"

// Holder is an Environment that can hold containers: start one, leave it
// running, and end it later. A detached engine does it by itself; for the
// others the engine's process stays in the background, held by us, and the
// fact "held" of such a container says so.
//
// Hold may be called by several goroutines at once, and beside Run.
type Holder interface {
	// Hold starts a container and returns when its payload's first byte has
	// reached us. A container that did not come to that is gone when Hold
	// returns, and the error (an *Error with a class) says why. task.Stop and
	// task.Limit count for the start only: Limit bounds Hold itself.
	Hold(ctx context.Context, task Task) (Held, error)
}

// Held is a container that runs.
type Held interface {
	// Place says where it can be observed and reached.
	Place() Place
	// Output is what the payload has printed so far, each stream up to the
	// task's OutputLimit.
	Output() (stdout, stderr []byte)
	// Ended is closed when the container has ended, by itself or not.
	Ended() <-chan struct{}
	// End asks the engine to stop the container, where it still runs, and to
	// remove it, and gives the whole life: all events from Request to Removed,
	// all output, the exit status. Nothing of the container is left when it
	// returns, unless the Result's Failure says so. For the second time it
	// gives the same again.
	End(ctx context.Context, stop Stop) (Result, error)
}

// Place is where a held container is.
type Place struct {
	// Address is the IPv4 address at which other containers of the same
	// environment, and the host, reach it: "127.0.0.1" where it has the host's
	// network; empty where it has none, and then NoAddress says why.
	Address   string
	NoAddress string
	// Inner: containers of the environment reach Address and the host does not,
	// since the engine's network lies in a namespace of its own (rootless
	// engines, private daemons).
	Inner bool
	// PID is the payload's in the host's PID namespace, or that of the sandbox
	// which it runs in (gVisor); 0 where there is none (a virtual machine) or
	// nobody tells.
	PID int
	// Background: the engine can't detach, so that a process of ours holds it.
	Background bool
}

// HeldFact is the fact that says who keeps an environment's held containers.
const (
	HeldFact     = "held"
	HeldByEngine = "engine"     // it detaches
	HeldByUs     = "background" // its process stays, and we hold it
)

// Executor is a Held that can run one more program inside, in the same
// namespaces, as the engine's users do (docker exec, lxc exec, crictl exec).
type Executor interface {
	// Exec is like Environment.Run for a program in the running container: the
	// events Request (= Exec), First by the payload, Ready and Exit. The task's
	// Mounts, Beside and Stop mean nothing.
	Exec(ctx context.Context, task Task) (Result, error)
}

// Daemons is an Environment whose engine has processes of its own beside the
// containers: their use of the machine belongs to the engine.
type Daemons interface {
	// Daemons gives the sockets by which the engine's daemons are reached, or
	// the pids of those that have none, at the moment.
	Daemons(ctx context.Context) (sockets []string, pids []int)
}

// Modelled is an Environment in which nothing real runs (the fake): nobody can
// look at its processes, so it says itself what would be seen.
type Modelled interface {
	Footprint() Footprint
}

// Footprint is what containers and engine take of memory at the moment, in
// bytes.
type Footprint struct {
	Payload int64 // all payloads
	Monitor int64 // the engine's processes that belong to one container
	Daemon  int64 // the engine's other processes
}

// MountKind says what a container finds at a mount's target.
type MountKind string

// The kinds of mounts. What an engine can't do is a Failure of class
// record.Unsupported.
const (
	Bind   MountKind = "bind"   // a directory of the host
	Volume MountKind = "volume" // a volume of the engine's own, new and empty, gone with the container
	Tmpfs  MountKind = "tmpfs"  // a tmpfs, new and empty
)

// Mount is one further file system in a container.
type Mount struct {
	Kind   MountKind
	Target string // an absolute path inside; the directory is in the image, or is made
	// Source is the directory on the host, for Bind. It is the caller's, who
	// makes it accessible to the container's user.
	Source string
	// SizeBytes bounds a Tmpfs; 0 means what the engine does.
	SizeBytes int64
}

// Commander is an Environment whose client is a command line with separate
// commands to create a container, to start it, and to execute a program in it.
type Commander interface {
	// Commands carries a container through its life by these commands, one after
	// the other: create, with a shell (sh) and a terminal, as one makes a container
	// to work in; start; exec of task.Argv; removal by force. A system container
	// has its own init instead of the shell. The events are Request, Created,
	// Start, Started, Exec, Ready and Exit (the end of exec's command) and
	// Removed, all stamped around the commands, and the exit status is exec's.
	//
	// Where task.Then is given it is called between exec and the removal.
	//
	// The image must have a shell. task.Stop means nothing.
	Commands(ctx context.Context, task Task) (Result, error)
}

// Shell is what a Commander's container runs.
const Shell = "sh"
