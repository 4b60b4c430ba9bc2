package docker

// LimitsMemory returns what the daemon reports.
func (env *environment) LimitsMemory() bool { return env.memoryLimit }
