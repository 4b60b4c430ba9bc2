package engine

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
