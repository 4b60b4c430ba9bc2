package engine

import (
	"context"
	"time"

	"plimsoll/internal/measure/image"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/record"
)

// Kit is everything that an adapter gets from outside: programs, directories,
// images, users. Nothing in an adapter reads the environment by itself.
type Kit struct {
	RunID string // [a-z0-9]{8}; empty while only detecting
	// Dir is a directory of this run's own, for bundles and the like; it is
	// removed at the end.
	Dir string
	// Mark is the variable "K=V" that processes of the run inherit; empty while
	// only detecting. See Mark.
	Mark string
	// ProbePath is the probe on the host's file system.
	ProbePath string
	// Images gives the workload images in every format.
	Images image.Provider
	// Elsewhere gives them on other file systems, by the level of ImageOn.
	Elsewhere map[string]image.Provider
	// LookPath finds a program on the user's PATH.
	LookPath func(name string) (string, error)
	// Getenv reads the user's environment (DOCKER_HOST and the like).
	Getenv func(name string) string
	// User is the ordinary user for rootless engines; nil where there is none,
	// and then NoUser says why.
	User   *User
	NoUser string
	// Root says whether we are root.
	Root bool
	// Ledger is told of everything before it is made.
	Ledger Ledger
	// Longer, where given, is for an adapter's Open that is about to do what may
	// take long, as the conversion of a large image: the user is told what it
	// is, and Open gets by more time. See TakesLonger.
	Longer func(what string, by time.Duration)
	// LeftOn, where given, is told what of the kernel stays as the run has set it, since
	// somebody else may need it so.
	LeftOn func(what string)
	// LeftAlone, where given, is told which processes look like the run's and are
	// not proved to be.
	LeftAlone func(what string)
	// builds are those that the environment runs: see Built.
	builds []record.Build
	// AllBuilds are those of all environments of the run, for an engine whose daemon
	// learns of builds when it starts.
	AllBuilds []record.Build
	// Spans is where daemons of ours send their own spans; nil: they make none. Then an
	// engine that is Spanning takes a daemon of ours, never the user's.
	Spans *Collector
	// Launcher starts a launcher, inside the given cgroups where any are given.
	Launcher func(ctx context.Context, opts probe.Options) (*probe.Launcher, error)
}

// User is an ordinary user who runs rootless engines.
type User struct {
	Name       string
	UID, GID   int
	Groups     []int
	Home       string
	RuntimeDir string // XDG_RUNTIME_DIR
}

// TakesLonger tells that what follows may take so much longer than an Open has,
// and why.
func (k *Kit) TakesLonger(what string, by time.Duration) {
	if k.Longer != nil {
		k.Longer(what, by)
	}
}

// MarkEnv returns what is added to the environment of the programs that an
// adapter starts and that may outlive the run: see Mark.
func (k *Kit) MarkEnv() []string {
	if k.Mark == "" {
		return nil
	}
	return []string{k.Mark}
}
