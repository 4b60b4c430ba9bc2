package workload

import (
	"regexp"
	"time"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/image"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/record"
)

// Plan is what one trial of a workload from a file does: containers by role,
// and how the metrics come out of what they print.
type Plan struct {
	// Roles are started in this order; each but the last is a server, held
	// until the last has ended. With a single role that is all.
	Roles []Role
	// Metrics come out of the last role's output, unless they name another.
	Metrics []Extract
	// Limit is the time limit of the whole trial; 0 means the study's.
	Limit time.Duration
	// Files says where the working directory lies.
	Files Files
	// ByCommands: the last role is executed in a container that was created and
	// started by commands of their own.
	ByCommands bool
	// Needs are checked before the trial.
	Needs Needs
	// Launch, where given: the one role is a parallel program.
	Launch *Launch
	// Lacks say which words of a failed trial mean that the engine's container
	// may not do what the workload needs.
	Lacks []Lack
}

// Launch is a parallel program: in how many ranks it is started, and where.
type Launch struct {
	Ranks, Nodes int
	// Shared: the ranks of a node share one container.
	Shared bool
	// Bound: the ranks load the host's MPI library, which is bound into their
	// containers, and not the image's.
	Bound bool
	// Program: the MPI program of ours is to lie in WorkDir.
	Program bool
}

// Lack is what a container may lack, told by what the workload's programs say.
type Lack struct {
	Says    *regexp.Regexp
	Because string
}

// Role is one container of a workload.
type Role struct {
	Name string
	// Task are the steps inside. Its arguments may hold references such as
	// ${server.address}; Resolve replaces them.
	Task probe.TaskArgs
	Env  []string
	// Line, where given, is a regular expression that the role's output (either
	// stream) must match before it counts as ready; else the task's own
	// "ready" does.
	Line string
	// Host: the role runs on the host's network with the image's programs
	// (as native does), whatever the environment is.
	Host bool
	// Pod names roles that share one network namespace; "" is one of its own.
	Pod string
}

// Files says where the directory WorkDir of a workload lies.
type Files string

// The levels of the parameter files.
const (
	FilesOwn    Files = "own"    // in the container's own file system
	FilesBind   Files = "bind"   // in a directory of the host
	FilesVolume Files = "volume" // in a volume of the engine's own
	FilesTmpfs  Files = "tmpfs"  // in a tmpfs
)

// WorkDir is where workloads write. It is in every image, and empty.
const WorkDir = image.WorkDir

// Needs are what a workload needs to make sense.
type Needs struct {
	// Network: containers must reach each other at an address.
	Network bool `json:"network,omitempty"`
	// Detached: the engine must be able to hold a container by itself.
	Detached bool `json:"detached,omitempty"`
	// ICMP: programs in it send echo requests. An engine that is asked for it in
	// its request is asked; the others are as they are.
	ICMP bool `json:"icmp,omitempty"`
	// Root: the container must be run by root, not by a user without privileges.
	Root        bool  `json:"root,omitempty"`
	MemoryBytes int64 `json:"memory_bytes,omitempty"`
	DiskBytes   int64 `json:"disk_bytes,omitempty"`
	CPUs        int   `json:"cpus,omitempty"`
}

// Extract is how one metric comes out of a role's output.
type Extract struct {
	Metric record.Metric
	Role   string // "" is the last
	JSON   string // a path into JSON output, or
	Regexp string // a regular expression with one group, or
	Parser string // a named parser, which gives several metrics by Key
	Key    string
	Scale  float64 // the number is multiplied by it; 0 means 1
	// All says what to do where the pattern matches more than once: "last"
	// (default), "first", "sum", "mean", "min", "max".
	All string
}

// Mounts are the mounts that put Files into force; dir is the host's directory
// for FilesBind.
func (f Files) Mounts(dir string) []engine.Mount {
	switch f {
	case FilesBind:
		return []engine.Mount{{Kind: engine.Bind, Target: WorkDir, Source: dir}}
	case FilesVolume:
		return []engine.Mount{{Kind: engine.Volume, Target: WorkDir}}
	case FilesTmpfs:
		return []engine.Mount{{Kind: engine.Tmpfs, Target: WorkDir}}
	}
	return nil
}
