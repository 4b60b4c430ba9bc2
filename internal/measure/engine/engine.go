// Package engine is the contract between Plimsoll and a container engine, and
// the catalogue of the engines that there are.
//
// It is opinionated: an adapter talks to the engine as the engine's users do,
// through its official client or its command line; what it reports as facts is
// what the live engine says; whatever it makes carries our label; and what an
// engine can't do is an error of class record.Unsupported, never a zero.
//
// Why it is so: docs/decisions/engines.md, docs/decisions/ownership.md.
package engine

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/measure/probe"
	"plimsoll/internal/record"
)

// Label is the key of the label on everything that we make; its value is the
// run's id. The key is name-spaced, as the engines advise, and proves nothing by
// itself: see Thing.
const Label = "io.plimsoll.run"

// Namespace is what a place of our own is called inside an engine that has such.
const Namespace = "plimsoll"

// The names of the factors. A level that a study does not name is "default":
// the engine's own, and the facts say what that came to.
const (
	Runtime  = "runtime"  // runc, crun, youki, runsc
	Storage  = "storage"  // overlay2, vfs, directory, squashfs, sif, sandbox …
	Client   = "client"   // api, cli; for a bare runtime: steps (create, start, delete) or run
	Network  = "network"  // none, host, default
	Rootless = "rootless" // no, yes
	// Privileged: root inside is the host's root, without a user namespace, in
	// containers that have one by default (LXD, Incus).
	Privileged = "privileged"    // no, yes
	Image      = "image"         // payload, busybox …
	Seccomp    = "seccomp"       // default, off
	Cgroup     = "cgroup"        // v1, hybrid, v2: a property of the machine that can be asked for, never changed
	Driver     = "cgroup-driver" // cgroupfs, systemd: who makes the engine's cgroups
	Endpoint   = "endpoint"      // whose CRI: containerd, crio
	Without    = "without"       // mechanisms that are left out, joined by And: pid-namespace+masked-paths
	With       = "with"          // mechanisms that are added, joined likewise: init+terminal
	ImageOn    = "image-on"      // a file system's name in the study; which directory that is, the user says
	Build      = "build"         // a build's name in the study; which file that is, the user says; adapters find it by Kit.LookPath
	CPULimit   = "cpu-limit"     // none, or CPUs: 0.5; no adapter's, since it comes to each as Spec.Limits
	// MemoryLimit is none, or a size: 512MiB; no adapter's either.
	MemoryLimit = "memory-limit"
	Tuned       = "tuned" // all, or states of the machine, joined by And; no adapter's: the run sets them
)

// Factors lists the factors in the order in which they are shown.
var Factors = []string{Endpoint, Runtime, Build, Storage, Client, Network, Rootless, Privileged, Image, ImageOn, Seccomp, Cgroup, Driver, Without, With, CPULimit, MemoryLimit, Tuned}

// DefaultLevel stands for "as the engine does when not told".
const DefaultLevel = "default"

// Engine is one container engine, or one baseline.
type Engine interface {
	// Info is what can be said without looking at the machine.
	Info() Info
	// Detect looks at the machine: is the engine here, which version, which
	// levels of which factors can be had. It changes nothing, runs no
	// container and takes a moment; nothing that it asks has a limit below
	// DetectLimit, so that whoever calls it knows by ctx whether all was answered.
	Detect(ctx context.Context, kit *Kit) Detection
	// Open makes an environment ready: it provides the image, reads the facts
	// from the live engine, runs one container and proves by it that the
	// runtime, driver and network in force are the ones asked for (else an
	// *Error of class record.WrongComponent).
	Open(ctx context.Context, kit *Kit, spec Spec) (Environment, error)
	// Leftovers looks for the things that the kit's ledger says this engine
	// holds, at the place that each names, and gives those that are still there.
	// What it can't look at is a Leftover with a Problem, or the error where it
	// is all of them. It looks for nothing else, and changes nothing.
	Leftovers(ctx context.Context, kit *Kit, things []Thing) ([]Leftover, error)
}

// DetectLimit is how long an engine may take to be found, before child.Stretch. What takes
// milliseconds takes many seconds on a busy machine, and an engine that answers
// late is not one that is missing.
const DetectLimit = 30 * time.Second

// Environment is an engine in one configuration, ready for trials.
type Environment interface {
	// Facts are what the live engine and the live container say.
	Facts() map[string]string
	// Run carries one container through its whole life. A failed trial is a
	// Result with a Failure; an error is for what makes further trials here
	// pointless (none is expected in normal life). It may be called by several
	// goroutines at once.
	Run(ctx context.Context, task Task) (Result, error)
	// Close undoes Open. It must be safe to call twice.
	Close(ctx context.Context) error
}

// Readier is an Environment whose engine is asked before every trial whether it
// answers, over a connection that stays open, and which then removes what an
// earlier trial had to leave. Run does it by itself, but for a task that is
// Checked: whoever drops the machine's caches calls Ready before that, so that
// the engine is as cold as those that nobody asks.
type Readier interface {
	Ready(ctx context.Context) *record.Failure
}

// Calibrator is an Environment that can hold the clock exchange (a payload in
// the variant "echo" on the container's standard input and output).
type Calibrator interface {
	Calibrate(ctx context.Context, task Task, rounds int) ([]probe.Exchange, error)
}

// Throttler is an Environment whose CPU limit a cgroup of ours keeps, around all
// its trials.
type Throttler interface {
	// Throttled is for how long that limit has held processes back so far; false
	// where there is no such limit.
	Throttled() (time.Duration, bool)
}

// Proved is an Environment that knows what the container saw by which Open has
// proved it: the payload's report. Beside it the first trial shows what is
// another in each container.
type Proved interface {
	Proof() map[string]string
}

// Info describes an engine.
type Info struct {
	Name  string // "docker"; stable, used in studies
	Title string // "Docker"
	// Baseline is true for native, floor and host.
	Baseline bool
	// Simulated is true for the fake: its times are made up.
	Simulated bool
	// Unverified is true until the adapter was run against the real engine.
	Unverified bool
	// Untried are the levels of a factor that were never run on the real system,
	// where the rest of the adapter was.
	Untried map[string][]string
	// ByHand is the version of the real engine that the adapter was last run
	// against by hand, where the tests can't: no package has the engine, and they
	// know a stand-in alone. "" where the tests run against the real one.
	ByHand string
	// Levels are the levels that the adapter knows for each factor, its
	// default first; a factor that is missing can't be varied.
	Levels map[string][]string
	// Detached: containers run without a process of ours.
	Detached bool
	// Bare: nothing can be mounted into its containers, so that it carries the
	// life cycle's payloads and no workload that needs a directory (floor).
	Bare bool
	// InPlace: its containers run from the image where the store has it, a file or
	// a directory, without a copy in a store of the engine's own. It takes the
	// factor ImageOn, and its environments tell by LiesOn where the image lies.
	InPlace bool
	// RefusesCPUs: it makes no container with a limit of more processors than
	// the machine has.
	RefusesCPUs bool
	// Typical is what one trial of the life cycle takes in all, its clean-up and
	// the wait for a quiet host too: for an estimate of the time, nothing else.
	Typical time.Duration
	// Images says how it comes to its images.
	Images Images
	// Processes are those that it runs beside the payloads.
	Processes Processes
	// Cgroups tell the control groups of its containers; none where it makes none.
	Cgroups []ContainerGroup
	// OCI: the levels of the factor runtime are OCI runtimes.
	OCI bool
	// Programs are those of which an environment can have another build: it finds
	// each by Kit.LookPath alone, whenever it looks for it. None: it takes no factor
	// Build.
	Programs []Program
	// Mechanisms are what it does at a start and can be taken away, from the outside
	// in, and what it can also do and does not by itself; Below is the engine that it calls for the rest, "" where there is none.
	Mechanisms []Mechanism
	Below      string
	// Spans is how it is asked for spans of its own, and who has them: for a help and a
	// hint; "" where it is not Spanning.
	Spans string
	// Rules are combinations of levels that the engine can't have anywhere; what
	// depends on a version, a kernel or a package is none: Detect finds that.
	// Lacks are what the adapter does not have yet.
	Rules []Rule
	Lacks []Lack
}

// Detection is what was found on this machine.
type Detection struct {
	Usable  bool
	Version string
	Where   string            // path of the program, or socket
	Facts   map[string]string // storage driver, cgroup version, default runtime…
	// Levels says for each level of each factor whether it can be had here.
	Levels map[string][]Level
	Reason string // why it is not usable: one sentence
	Fix    string // the command that would make it usable
}

// Level is one level of a factor on this machine.
type Level struct {
	Name   string
	Usable bool
	Reason string
	Fix    string
}

// Spec is an environment as asked for.
type Spec struct {
	ID     string            // the environment's id, for messages
	Levels map[string]string // by factor; a missing one is DefaultLevel
	Limits Limits
}

// Level gives the level of a factor, DefaultLevel where none was named.
func (s Spec) Level(factor string) string {
	if l := s.Levels[factor]; l != "" {
		return l
	}
	return DefaultLevel
}

// Limits are put on every container alike: by the engine where it can, else
// by a cgroup that we make around it. Zero is "no limit".
type Limits struct {
	CPUs        float64
	MemoryBytes int64
}

// Task is one trial, as the adapter sees it.
type Task struct {
	// Name is unique on this machine, [a-z0-9-] only: what the container is called.
	Name string
	// Argv is what runs inside, its path by the image's root.
	Argv []string
	// Env is added to the image's environment, K=V.
	Env []string
	// Stop, where given: the payload stays until it is told; once it is ready
	// the engine is asked to stop the container.
	Stop *Stop
	// Limit is the time limit of the whole life; then everything is killed
	// and the trial fails with class record.TimeOut. Never 0.
	Limit time.Duration
	// OutputLimit bounds what is kept of each stream; 0 means 64 KiB.
	OutputLimit int
	// Mounts are further file systems; an engine that has none of a kind fails
	// the trial with class record.Unsupported.
	Mounts []Mount
	// Own: the payload writes into its container's own file system. An engine
	// whose containers have a read-only one adds a layer of its own, where it
	// has such an option, or fails the trial with class record.Unsupported.
	Own bool
	// Checked: Readier.Ready was called for this trial, and Run does not.
	Checked bool
	// ICMP: the payload sends echo requests. Where a container may open no raw
	// socket by default and the request can allow ICMP sockets, it does.
	ICMP bool
	// Beside, where given, is a held container of the same environment: this
	// one shares its network namespace, as in a pod.
	Beside Held
	// MemoryBytes, where given, is this container's memory limit, in place of the
	// environment's, which must be a MemoryLimiter.
	MemoryBytes int64
	// Publish, where given, is a port of the container that the engine publishes
	// on the host's loopback. It counts for a Commander alone.
	Publish *Publish
	// Then, where given, is called by a Commander when what it executed has ended
	// with success, before the container is removed. That removal has no stamp.
	Then func(context.Context)
}

// Publish is a TCP port inside a container and the one of 127.0.0.1 at which it
// is reached from the host.
type Publish struct{ Inside, Host int }

// HostAddress is the host's end, as command lines write it.
func (p Publish) HostAddress() string { return "127.0.0.1:" + strconv.Itoa(p.Host) }

// Stop asks for a container to be stopped by the engine.
type Stop struct {
	Grace time.Duration // between SIGTERM and SIGKILL
}

// Result is the course of one trial as seen from outside.
type Result struct {
	// Events are the outside stamps only: First and Done are read from the
	// payload's output by our caller.
	Events map[record.Event]int64
	Steps  []record.Step
	Stdout []byte // the payload's, without the engine's framing
	Stderr []byte
	Exit   *int // the payload's exit status, as far as the engine tells
	Client *record.Usage
	// Failure says that the trial did not work, with what the engine said. An
	// exit status of the payload's own is none: the caller knows which one it
	// asked for. An end by a signal is (record.Crash), unless Stop was asked for.
	Failure *record.Failure
}

// Error is a failure with a class, the reason and what to do about it.
type Error struct {
	Class record.Class
	Text  string
	Fix   string // a command, where one is known
	Err   error
}

func (e *Error) Error() string {
	s := e.Text
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	if e.Fix != "" {
		s += " (try: " + e.Fix + ")"
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }

// FailureOf is an adapter's error as the outcome of a trial: its class and its text.
func FailureOf(err error) *record.Failure {
	if e, ok := errors.AsType[*Error](err); ok {
		return &record.Failure{Class: e.Class, Text: e.Error()}
	}
	return &record.Failure{Class: record.HarnessError, Text: err.Error()}
}

// Reason parts an error from its advice: why, and the command that would help
// where one is known.
func Reason(err error) (text, fix string) {
	var e *Error
	if !errors.As(err, &e) {
		return err.Error(), ""
	}
	plain := *e
	plain.Fix = ""
	return strings.Replace(err.Error(), e.Error(), plain.Error(), 1), e.Fix
}

// Pause lets time pass; false where ctx is over before.
func Pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// CloseAll closes the environment that was opened first last, whatever the others say: the
// image and the namespace that all share were made by the first, and go by its connection.
func CloseAll(ctx context.Context, envs []Environment) error {
	var errs []error
	for _, env := range slices.Backward(envs) {
		errs = append(errs, env.Close(ctx))
	}
	return errors.Join(errs...)
}
