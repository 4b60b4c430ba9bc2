package engine

import "context"

// MemoryLimiter is an Environment that can give a single container a memory
// limit of its own, by Task.MemoryBytes.
type MemoryLimiter interface {
	LimitsMemory() bool
}

// For gives the limits of one task's container.
func (l Limits) For(task Task) Limits {
	if task.MemoryBytes > 0 {
		l.MemoryBytes = task.MemoryBytes
	}
	return l
}

// Teller is an Environment whose engine says by a command of its own what memory
// its containers take, such as `docker stats`.
type Teller interface {
	// MemoryTold is the sum over the containers of these names, in bytes, as the
	// engine counts it, which is another thing in every engine.
	MemoryTold(ctx context.Context, containers []string) (int64, error)
}
