package engine

import "context"

// Ranks are the processes of a parallel program, as a launcher starts them.
type Ranks struct {
	// Launcher is mpirun or srun with its options. It stands before the engine's
	// command, so that each rank is a container that the launcher has started.
	Launcher []string
	// Env is the launcher's own, which hands it to the ranks.
	Env []string
	// Inside are variables of the ranks alone, which the launcher must not have.
	Inside []string
	// Shared: the ranks of one node share one container, where the engine has a
	// way to that; else each has its own.
	Shared bool
	// PerNode is how many there are on one node, of so many nodes.
	PerNode, Nodes int
	// Scratch is the launcher's directory of files, which ranks must see at the
	// same path.
	Scratch string
}

// Parallel is an Environment whose container is one command in the foreground, by
// whose end it is gone: then a launcher of parallel programs can start it, as the
// users of high-performance computers do.
type Parallel interface {
	// RunRanks starts the launcher, which starts as many containers as it was told
	// to, task.Argv in each, and waits for its end. The events are the launcher's:
	// Request, Exit, Removed. What ranks print goes where the launcher was told to
	// put it. task's Stop, Own and Beside mean nothing.
	RunRanks(ctx context.Context, ranks Ranks, task Task) (Result, error)
}
