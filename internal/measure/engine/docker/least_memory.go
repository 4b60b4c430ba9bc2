package docker

// LimitsMemory is documented in engine.MemoryLimiter: it is the daemon's word.
func (env *environment) LimitsMemory() bool { return env.memoryLimit }
