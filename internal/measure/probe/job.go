package probe

import (
	"time"

	"plimsoll/internal/record"
)

// Job is a short program for the launcher: commands that it runs one after
// the other, stamping each, and reports together when all is over, so that
// nothing of Go's lies on the measured path.
type Job struct {
	Commands []Command
	// Limit ends the job: whatever still runs is killed (the commands'
	// process groups, and the container by its pid where it is known).
	// 0 means 60 s.
	Limit time.Duration
	// Cleanup is the time that the commands marked Always have once Limit has
	// struck or the job was cancelled. 0 means 10 s. Run never takes longer
	// than Limit + Cleanup and a few seconds.
	Cleanup time.Duration
	// OutputLimit bounds what is kept of each stream of each command, in
	// bytes; what is over is read and thrown away, and counted. 0 means 64 KiB.
	// All streams together may keep 16 MiB.
	OutputLimit int

	held bool     // set by Hold
	env  []string // set by the launcher: added to each command's
}

// Command is one process to start, or one signal to send; one with neither
// Argv nor Signal only awaits.
//
// A command that ends badly (it can't be started, its status is not 0, its
// PidFile can't be read, its signal finds nobody) makes the launcher skip
// those that follow, but for the ones marked Always. A background command
// counts from when it has ended.
type Command struct {
	Argv []string // Argv[0] is a path; PATH is not searched
	Env  []string // the whole environment
	Dir  string   // working directory, inside Chroot where that is given

	// Credentials: all zero and Groups nil leaves them as they are.
	UID, GID int
	Groups   []int
	SetUser  bool // apply UID, GID and Groups

	Rlimits []Rlimit
	// Cgroups are cgroup.procs files that the child writes itself to before
	// it execs. This is inside the measured time; a cgroup around a whole
	// environment is given to the launcher itself (Options.Cgroups).
	Cgroups []string

	Chroot string // native: chroot there, then exec
	Floor  *Floor // floor: make the smallest container, then exec

	Stdin Stdin
	// Await is what must have happened before this command begins.
	Await Await
	// Background: go on to the next command without waiting for this one's
	// end. The job as a whole ends when every command has ended.
	Background bool
	// Always: run this command even though an earlier one failed or Limit has
	// struck (delete, clean-up). It then waits neither for AwaitReady nor for
	// AwaitContainerExit nor for AwaitGrace.
	Always bool
	// PidFile is read when this command has ended: the pid in it is the
	// container's, whose end is then watched by a pidfd.
	PidFile string
	// Signal, when not 0, makes this no process but a signal: it is sent to
	// the child of the first command that is not Mute (or, where a PidFile was
	// read, to that pid).
	Signal int
	// Mute: this command's stdout is not the payload's (docker create prints
	// an id), so its bytes do not make Ready.
	Mute bool
	// Unsynced: the process, and all that it starts, wait for no disk: a filter of system
	// calls answers fsync and its kin with success at once. The launcher must be root's.
	Unsynced bool
	// Grace belongs to AwaitGrace.
	Grace time.Duration
	// Calibrate, when not 0, is the number of rounds of the clock exchange
	// held over stdin and stdout with a payload in the variant "echo".
	Calibrate int
}

// Stdin says what a command reads.
type Stdin int

// The choices for Stdin.
const (
	StdinNull Stdin = iota // /dev/null
	StdinPipe              // a pipe that stays open and empty until the job ends
)

// Await is a condition before a command.
type Await int

// The conditions.
const (
	AwaitPrevious      Await = iota // the previous command has ended, unless it is in the background
	AwaitReady                      // the payload's first byte has come, on any command's stdout
	AwaitContainerExit              // the container of the pid file, or else the child of the first command that is not Mute, has ended
	// AwaitGrace: the command before this one has begun Grace ago, and the
	// container (as of AwaitContainerExit) still has not ended. Where it ends
	// before that, the command is skipped: its result has Skipped set.
	AwaitGrace
)

// Rlimit is one resource limit by its Linux number.
type Rlimit struct {
	Resource   int
	Soft, Hard uint64
}

// Floor describes the smallest container that the kernel can make.
type Floor struct {
	Lower, Upper, Work, Merged string // the overlay's directories; all absolute
	// UserNS maps uid and gid 0 inside to the launcher's own.
	UserNS bool
	// NetNS makes a network namespace of its own (network none); false leaves the host's.
	NetNS bool
}

// JobResult is what the launcher saw. Times are CLOCK_MONOTONIC in ns; 0 is
// "did not happen".
type JobResult struct {
	Commands []CommandResult
	// Ready is when the first byte of any command's payload stream (stdout) came.
	Ready int64
	// ContainerExit is when the watched container pid ended.
	ContainerExit int64
	// ContainerStatus is the raw wait status of the watched container where it
	// was ours to reap: the launcher is a child subreaper, so that a container
	// whose runtime has gone becomes its child. Meaningful only with
	// ContainerReaped.
	ContainerStatus int
	ContainerReaped bool
	// ContainerLate: the container had ended before its pid file was read, so
	// that ContainerExit is when this was noticed, not when it happened.
	ContainerLate bool
	// TimedOut says that Limit struck.
	TimedOut bool
	// Killed says that the launcher killed the container: at Limit, or because
	// a command had failed and nothing was left that would have ended it.
	Killed bool
	// Strays are processes that a command of this or an earlier job left
	// behind and that live on as the launcher's children (a detached
	// container's monitor, say). After a time-out the strays of that job are
	// killed; all of them are when the launcher is closed.
	Strays []int
	// Offsets are the rounds of the clock exchange, if one was held.
	Offsets []Exchange

	over bool // nothing of the job runs any more
}

// CommandResult is the course of one command.
type CommandResult struct {
	Spawn int64 // just before vfork
	Exec  int64 // vfork has returned: the child has exec'd, or failed to
	First int64 // first byte on this command's stdout
	Exit  int64 // we saw the end
	// Skipped: nothing was started, since its condition did not come true
	// (AwaitGrace, or AwaitReady when no stream is left that could become
	// ready), an earlier command failed, or Limit had struck.
	Skipped bool
	// Errno is not 0 where the child could not be started; Where says at which step.
	Errno int
	Where string
	// Status is the raw wait status.
	Status int
	Usage  record.Usage
	Stdout []byte
	Stderr []byte
	// Dropped counts the bytes over OutputLimit.
	Dropped int64
	// Steps are the floor's system calls, in order.
	Steps []record.Step
}

// Exchange is one round of the clock calibration: sent and received by the
// host's clock, inside by the payload's.
type Exchange struct {
	Sent, Inside, Received int64
}

// Options are for starting a launcher.
type Options struct {
	// Cgroups are cgroup.procs files that the launcher joins once, so that
	// all its commands are born there: limits from outside, whose cost is
	// not in any trial.
	Cgroups []string
	// On calls f on a thread that lives as long as the launcher, whose namespaces
	// the launcher inherits; nil takes a thread of its own.
	On func(f func() error) error
	// Env is added to the environment of every command, as "K=V".
	Env []string
}
