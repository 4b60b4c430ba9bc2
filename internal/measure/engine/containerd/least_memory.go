package containerd

func (env *environment) LimitsMemory() bool { return true }
