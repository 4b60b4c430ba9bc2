package engine

import "context"

// Teller is an Environment whose engine says by a command of its own what memory
// its containers take, such as `docker stats`.
type Teller interface {
	// MemoryTold is the sum over the containers of these names, in bytes, as the
	// engine counts it, which is another thing in every engine.
	MemoryTold(ctx context.Context, containers []string) (int64, error)
}
