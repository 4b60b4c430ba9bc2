package oci

// LimitsMemory is documented in engine.MemoryLimiter.
func (e *environment) LimitsMemory() bool { return true }
