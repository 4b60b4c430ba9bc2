package engine

import (
	"context"

	"plimsoll/internal/image"
	"plimsoll/internal/probe"
)

// Kit is everything that an adapter gets from outside: programs, directories,
// images, users. Nothing in an adapter reads the environment by itself.
type Kit struct {
	RunID string // [a-z0-9]{8}; empty while only detecting
	// Dir is a directory of this run's own, for bundles and the like; it is
	// removed at the end.
	Dir string
	// ProbePath is the probe on the host's file system.
	ProbePath string
	// Images gives the workload images in every format.
	Images image.Provider
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

// Ledger keeps account of what a run makes, so that clean-up after a kill
// knows what to look for. Made is durable when it returns.
type Ledger interface {
	Made(kind, name string) error
	Gone(kind, name string) error
}
