package probe

// TaskArgs are the arguments of the probe's verb task: it carries out the
// steps of a workload inside one container, stamps each, and proves by the
// trial's word that it did. As PID 1 it reaps; SIGTERM it hands to the step
// that runs, leaves out what would follow, and cleans up. Its exit status is 0
// or that of the first step that failed (1 where that was 0 and should not
// have been, 127 where it could not be started or was waited for in vain), and
// 143 where SIGTERM left out steps.
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
	// TaskCleanup runs in any case, at the end. Its status is told and does not
	// count.
	TaskCleanup TaskKind = "cleanup"
)

// Task is what a task said.
type Task struct {
	Payload // its word is proved; First, Done, Report
	// Ready is when a TaskStay was reached; 0 where it was not.
	Ready int64
	Steps []TaskResult // those that were begun, in order
	// Binary is the SHA-256 of the main step's program, in hexadecimal; of the
	// last one where there are several. BinaryErrno says why it could not be read.
	Binary      string
	BinaryErrno int
	// Output is the standard output of the main steps: all that came between
	// the task's own lines.
	Output []byte
}

// TaskResult is the course of one step.
type TaskResult struct {
	Index int
	Kind  TaskKind
	// Begin is just before the clone, End when the task heard of the end: ns of
	// the container's CLOCK_MONOTONIC; End 0: not ended.
	Begin, End int64
	// Status is the exit status, 128 + n after signal n; -1 where it could not
	// be started, and then Errno says why. A TaskPort or TaskFile that was
	// waited for in vain has -1 too, with Errno ETIMEDOUT (after 30 s), ESRCH
	// (a server has ended) or EINTR (SIGTERM came).
	Status, Errno int
	// UserNS, SystemNS, MaxRSS (bytes) and the context switches are wait4's,
	// with the step's own children that it has waited for.
	UserNS, SystemNS, MaxRSS int64
	Voluntary, Involuntary   int64
}
