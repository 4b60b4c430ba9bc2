package probe

import "errors"

// TaskArgs are the arguments of the probe's verb task: it carries out the
// steps of a workload inside one container, stamps each, and proves by the
// trial's word that it did. It is PID 1 there: it reaps, and hands SIGTERM on.
type TaskArgs struct {
	Word   string // as in PayloadArgs
	Report bool   // report what is seen from inside, as the payload does
	// Hash: the SHA-256 of the main step's program, read after it has ended.
	Hash  bool
	Dir   string // working directory of all steps, made where it is missing
	Steps []TaskStep
}

// TaskStep is one step. The steps are carried out in order; the first that
// fails ends the task, but for the steps of kind TaskCleanup.
type TaskStep struct {
	Kind TaskKind
	// Argv is the program by its path or by a name on the PATH, and its
	// arguments; without a shell. Empty for TaskPort and TaskFile.
	Argv []string
	// Port is the TCP port that must be listened on, File the path that must
	// be there, for TaskPort and TaskFile.
	Port int
	File string
	// Status is the exit status that means success.
	Status int
	// Output, where given, is a file inside that gets the step's standard
	// output. Only the main step's comes to us otherwise.
	Output string
	// Input, where given, is a file inside that is its standard input.
	Input string
}

// TaskKind is what a step is for.
type TaskKind string

// The kinds of steps.
const (
	// TaskPrepare runs before what is measured; its output goes to standard error.
	TaskPrepare TaskKind = "prepare"
	// TaskServe is started and left running; it is ended (SIGTERM, after 2 s
	// SIGKILL) when the main steps are over. Its output goes to standard error.
	TaskServe TaskKind = "serve"
	// TaskPort and TaskFile wait, without disturbing the server: for a socket
	// that listens (by /proc/net/tcp), for a file.
	TaskPort TaskKind = "port"
	TaskFile TaskKind = "file"
	// TaskMain is measured. Its standard output is the container's.
	TaskMain TaskKind = "main"
	// TaskStay says "ready" and waits for SIGTERM: a server's container.
	TaskStay TaskKind = "stay"
	// TaskCleanup runs in any case, at the end.
	TaskCleanup TaskKind = "cleanup"
)

// Argv gives the argument list, with path as Argv[0].
func (a TaskArgs) Argv(path string) []string { panic("not yet") }

// Task is what a task said.
type Task struct {
	Payload // its word is proved; First, Done, Report
	// Ready is when a TaskStay was reached; 0 where it was not.
	Ready int64
	Steps []TaskResult // those that were begun, in order
	// Binary is the SHA-256 of the main step's program, in hexadecimal.
	Binary string
	// Output is the standard output of the main steps: all that came between
	// the task's own lines.
	Output []byte
}

// TaskResult is the course of one step.
type TaskResult struct {
	Index      int
	Kind       TaskKind
	Begin, End int64 // ns of the container's CLOCK_MONOTONIC; End 0: not ended
	// Status is the exit status, 128 + n after signal n; -1 where it could not
	// be started, and then Errno says why.
	Status, Errno int
	// UserNS, SystemNS, MaxRSS (bytes) and the context switches are wait4's,
	// with the step's own children that it has waited for.
	UserNS, SystemNS, MaxRSS int64
	Voluntary, Involuntary   int64
}

// ErrTorn is returned where the word came, but not the task's end: the output
// was cut off, or the container died.
var ErrTorn = errors.New("the task's end did not come: the output is cut off")

// ParseTask reads what a task printed and checks the trial's word. What a
// workload prints can't be taken for the task's own lines, since those bear
// the word.
func ParseTask(out []byte, word string) (Task, error) { panic("not yet") }
