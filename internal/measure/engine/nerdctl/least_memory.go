package nerdctl

// LimitsMemory is documented in engine.MemoryLimiter.
func (env *environment) LimitsMemory() bool { return true }
